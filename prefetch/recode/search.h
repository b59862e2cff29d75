/* The coarsest step of luma that keeps a floor of SSIM.
 *
 * What a step gives is estimated from the coefficients of some blocks.  That is off by a factor
 * which depends on the image, so each try on the whole image, in pixels, corrects it.
 *
 * Thread-safety: pure.
 */
#pragma once
#include "prefetch/recode/luma.h"

/* l->coded is then the result, and *ssim its own.  -ENOMEM */
int search_step(struct luma *l, double floor, float *step, double *ssim) DL_MUST_CHECK;
