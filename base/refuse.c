#include "base/refuse.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(char reterr[REFUSE_MAX], int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reterr, REFUSE_MAX, format, args);
	va_end(args);
	return error;
}
