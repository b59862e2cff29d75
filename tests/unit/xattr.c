/* What the kernel is told of errors: none that makes it stop asking. */
#include <criterion/criterion.h>

#include "fs/xattr.h"

Test(xattr, errors_are_told_as_they_are)
{
	cr_assert_eq(xattr_error(0), 0);
	cr_assert_eq(xattr_error(-ETIMEDOUT), ETIMEDOUT);
	cr_assert_eq(xattr_error(-ENODATA), ENODATA);
}

Test(xattr, none_ends_all_questions)
{
	for (int error = 0; error < 4096; error++) {
		cr_assert_neq(xattr_error(-error), ENOSYS);
		cr_assert_neq(xattr_error(-error), EOPNOTSUPP);
	}
}
