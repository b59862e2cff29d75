/* What torch 1.13.1 (equal in 2.13 and 2.14) really reads: manual_seed and randperm, DataLoader
 * with shuffle (plain, persistent workers, a validation loader in between, generator=) and
 * DistributedSampler.  hash: FNV-1a, 64 bits, an index at a time.
 */
#pragma once
#include <stdint.h>

static const struct vector {
	const char *spec;
	uint32_t n;
	struct {
		uint32_t length, first[4], last;
		uint64_t hash;
	} epochs[3];
} vectors[] = {
	{ "torch:seed=0", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=0", 2, {
		{ 2, { 0, 1 }, 1, 0x08328707b4eb6e3a } } },
	{ "torch:seed=0", 3, {
		{ 3, { 2, 0, 1 }, 1, 0xeaa0071875df2b5a } } },
	{ "torch:seed=0", 10, {
		{ 10, { 4, 1, 7, 5 }, 2, 0x5fb755c895d353d6 } } },
	{ "torch:seed=0", 16, {
		{ 16, { 12, 10, 9, 6 }, 1, 0x25f3a5ef6a861d5b } } },
	{ "torch:seed=0", 17, {
		{ 17, { 7, 16, 10, 5 }, 0, 0x8b4dc3cf90b8221b } } },
	{ "torch:seed=0", 1000, {
		{ 1000, { 44, 37, 675, 775 }, 354, 0x7ed880462a855ad9 } } },
	{ "torch:seed=0", 50000, {
		{ 50000, { 36044, 49165, 37807, 11341 }, 31476, 0x4ec384fecba76281 } } },
	{ "torch:seed=1", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=1", 10, {
		{ 10, { 5, 6, 1, 2 }, 4, 0xec1661980f58e612 } } },
	{ "torch:seed=1", 1000, {
		{ 1000, { 845, 303, 66, 436 }, 639, 0xc273107c19736b81 } } },
	{ "torch:seed=1", 50000, {
		{ 50000, { 45845, 11799, 43880, 43701 }, 8475, 0xea3f17430c86939f } } },
	{ "torch:seed=2", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=2", 10, {
		{ 10, { 8, 7, 1, 5 }, 3, 0xd3bdcb3d86b7e7a8 } } },
	{ "torch:seed=2", 1000, {
		{ 1000, { 848, 205, 453, 475 }, 499, 0xf0047de8cce6fa0d } } },
	{ "torch:seed=2", 50000, {
		{ 50000, { 33848, 37386, 6757, 27616 }, 39033, 0xce037dea997a0c93 } } },
	{ "torch:seed=42", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=42", 2, {
		{ 2, { 0, 1 }, 1, 0x08328707b4eb6e3a } } },
	{ "torch:seed=42", 3, {
		{ 3, { 0, 2, 1 }, 1, 0xd94645186c0967b2 } } },
	{ "torch:seed=42", 10, {
		{ 10, { 2, 6, 1, 8 }, 7, 0xb3b37708c70ce962 } } },
	{ "torch:seed=42", 16, {
		{ 16, { 6, 3, 0, 7 }, 1, 0x3de16d62fa089227 } } },
	{ "torch:seed=42", 17, {
		{ 17, { 13, 4, 3, 15 }, 5, 0x099a3c7bede6abb5 } } },
	{ "torch:seed=42", 1000, {
		{ 1000, { 542, 618, 816, 68 }, 455, 0x7593c28448000885 } } },
	{ "torch:seed=42", 50000, {
		{ 50000, { 37542, 44491, 216, 43688 }, 33082, 0x19af616eb8e5cbd3 } } },
	{ "torch:seed=42", 1281167, {
		{ 1281167, { 772957, 412848, 214023, 1211721 }, 495690, 0x34bdebce8dfa89de } } },
	{ "torch:seed=1234", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=1234", 10, {
		{ 10, { 5, 4, 8, 2 }, 3, 0x746601d92b2ffc2a } } },
	{ "torch:seed=1234", 1000, {
		{ 1000, { 775, 760, 390, 842 }, 804, 0x871ba0b0e132989b } } },
	{ "torch:seed=1234", 50000, {
		{ 50000, { 19775, 41921, 43688, 136 }, 22916, 0x971cb6a326a4f1e5 } } },
	{ "torch:seed=3407", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=3407", 10, {
		{ 10, { 9, 1, 5, 7 }, 0, 0xc9498edb05d352f8 } } },
	{ "torch:seed=3407", 1000, {
		{ 1000, { 459, 541, 611, 294 }, 607, 0x50893938829d8fb1 } } },
	{ "torch:seed=3407", 50000, {
		{ 50000, { 10459, 30526, 34527, 4130 }, 13845, 0x8ba7f47a70646409 } } },
	{ "torch:seed=12345", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=12345", 10, {
		{ 10, { 0, 7, 1, 6 }, 3, 0x6464822687a6297e } } },
	{ "torch:seed=12345", 1000, {
		{ 1000, { 690, 394, 777, 772 }, 870, 0xf1ccecc12927381f } } },
	{ "torch:seed=12345", 50000, {
		{ 50000, { 20690, 11847, 27041, 17240 }, 39062, 0x38efaa15147a0223 } } },
	{ "torch:seed=4294967295", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=4294967295", 10, {
		{ 10, { 1, 4, 6, 2 }, 3, 0x57ebda8afe9dd412 } } },
	{ "torch:seed=4294967295", 1000, {
		{ 1000, { 371, 805, 492, 705 }, 642, 0xa7eda72e799da93d } } },
	{ "torch:seed=4294967295", 50000, {
		{ 50000, { 26371, 6566, 11230, 44653 }, 33419, 0xfa70ff8f40cff18d } } },
	{ "torch:seed=4294967338", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=4294967338", 10, {
		{ 10, { 2, 6, 1, 8 }, 7, 0xb3b37708c70ce962 } } },
	{ "torch:seed=4294967338", 1000, {
		{ 1000, { 542, 618, 816, 68 }, 455, 0x7593c28448000885 } } },
	{ "torch:seed=4294967338", 50000, {
		{ 50000, { 37542, 44491, 216, 43688 }, 33082, 0x19af616eb8e5cbd3 } } },
	{ "torch:seed=67280421310721", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=67280421310721", 10, {
		{ 10, { 0, 3, 7, 5 }, 6, 0x0301bf703e1ad4b8 } } },
	{ "torch:seed=67280421310721", 1000, {
		{ 1000, { 710, 930, 691, 853 }, 271, 0x3d19842d6f0d7501 } } },
	{ "torch:seed=67280421310721", 50000, {
		{ 50000, { 44710, 12395, 40459, 43538 }, 44627, 0x2a9f6bc13c625b61 } } },
	{ "torch:seed=6148914691236517204", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=6148914691236517204", 10, {
		{ 10, { 6, 0, 9, 3 }, 2, 0x757919b7cbd33dfc } } },
	{ "torch:seed=6148914691236517204", 1000, {
		{ 1000, { 6, 879, 69, 419 }, 94, 0x491426b40e3af097 } } },
	{ "torch:seed=6148914691236517204", 50000, {
		{ 50000, { 2006, 16658, 17849, 19486 }, 17051, 0x2e43615460d618c3 } } },
	{ "torch:seed=81985529216486895", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=81985529216486895", 10, {
		{ 10, { 4, 3, 2, 0 }, 5, 0x9a77a4a67491f0a2 } } },
	{ "torch:seed=81985529216486895", 1000, {
		{ 1000, { 94, 813, 364, 807 }, 958, 0xfe0895354738a95d } } },
	{ "torch:seed=81985529216486895", 50000, {
		{ 50000, { 20094, 44214, 4102, 39266 }, 753, 0xf44abc0fdcfd4579 } } },
	{ "torch:seed=-1", 1, {
		{ 1, { 0 }, 0, 0xaf63bd4c8601b7df } } },
	{ "torch:seed=-1", 2, {
		{ 2, { 1, 0 }, 0, 0x082f2207b4e88cc4 } } },
	{ "torch:seed=-1", 3, {
		{ 3, { 0, 1, 2 }, 2, 0xd949aa186c0c4928 } } },
	{ "torch:seed=-1", 10, {
		{ 10, { 1, 4, 6, 2 }, 3, 0x57ebda8afe9dd412 } } },
	{ "torch:seed=-1", 16, {
		{ 16, { 3, 4, 1, 8 }, 12, 0x69b108303479a38d } } },
	{ "torch:seed=-1", 17, {
		{ 17, { 2, 3, 13, 6 }, 10, 0xdec9e8b6db4e81b9 } } },
	{ "torch:seed=-1", 1000, {
		{ 1000, { 371, 805, 492, 705 }, 642, 0xa7eda72e799da93d } } },
	{ "torch:seed=-1", 50000, {
		{ 50000, { 26371, 6566, 11230, 44653 }, 33419, 0xfa70ff8f40cff18d } } },
	{ "torch:seed=0", 10, {
		{ 10, { 6, 7, 1, 4 }, 5, 0x39e5169ffa7940c0 },
		{ 10, { 2, 4, 7, 0 }, 1, 0x9aa49d52036d930e },
		{ 10, { 7, 4, 5, 1 }, 6, 0x92f6700493ec39b4 } } },
	{ "torch:seed=0", 10, {
		{ 10, { 6, 7, 1, 4 }, 5, 0x39e5169ffa7940c0 },
		{ 10, { 3, 5, 0, 6 }, 8, 0x9bb6d4bc8b1a4694 },
		{ 10, { 2, 4, 7, 0 }, 1, 0x9aa49d52036d930e } } },
	{ "torch:seed=0", 1000, {
		{ 1000, { 226, 331, 747, 309 }, 855, 0x2f3b881f80ba2825 },
		{ 1000, { 872, 31, 885, 300 }, 650, 0x2951a845c9f07349 },
		{ 1000, { 157, 454, 879, 737 }, 273, 0x5b707f9dff26f3c1 } } },
	{ "torch:seed=0", 1000, {
		{ 1000, { 226, 331, 747, 309 }, 855, 0x2f3b881f80ba2825 },
		{ 1000, { 23, 986, 807, 876 }, 167, 0x53e023eaa1146157 },
		{ 1000, { 872, 31, 885, 300 }, 650, 0x2951a845c9f07349 } } },
	{ "torch:seed=42", 10, {
		{ 10, { 8, 0, 9, 1 }, 7, 0x38376f54e8a4b7d8 },
		{ 10, { 4, 6, 9, 3 }, 8, 0xc880b84052441ce8 },
		{ 10, { 6, 2, 1, 0 }, 7, 0x9ea1a4d546cbf708 } } },
	{ "torch:seed=42", 10, {
		{ 10, { 8, 0, 9, 1 }, 7, 0x38376f54e8a4b7d8 },
		{ 10, { 4, 3, 2, 6 }, 9, 0xf907af09b71f4826 },
		{ 10, { 4, 6, 9, 3 }, 8, 0xc880b84052441ce8 } } },
	{ "torch:seed=42", 1000, {
		{ 1000, { 88, 494, 773, 894 }, 783, 0x41c87d685afe12c5 },
		{ 1000, { 894, 501, 615, 255 }, 852, 0xfd2e2f3249c42bc5 },
		{ 1000, { 876, 614, 928, 725 }, 661, 0x1210c567fc938789 } } },
	{ "torch:seed=42", 1000, {
		{ 1000, { 88, 494, 773, 894 }, 783, 0x41c87d685afe12c5 },
		{ 1000, { 864, 345, 832, 278 }, 308, 0xa013fd274afa2375 },
		{ 1000, { 894, 501, 615, 255 }, 852, 0xfd2e2f3249c42bc5 } } },
	{ "torch:seed=42", 50000, {
		{ 50000, { 41088, 47912, 41033, 9267 }, 31835, 0x72f56320fcb514b1 },
		{ 50000, { 24894, 21185, 49435, 34195 }, 33713, 0xc684bb408a78ba31 },
		{ 50000, { 9876, 44954, 28014, 5223 }, 31984, 0x2282b14dbc68876d } } },
	{ "torch:seed=42", 50000, {
		{ 50000, { 41088, 47912, 41033, 9267 }, 31835, 0x72f56320fcb514b1 },
		{ 50000, { 29864, 42675, 47986, 35465 }, 33949, 0x0f9c7d2467274d6f },
		{ 50000, { 24894, 21185, 49435, 34195 }, 33713, 0xc684bb408a78ba31 } } },
	{ "torch:seed=3407", 10, {
		{ 10, { 7, 0, 2, 5 }, 1, 0x1617a6f5cba720b4 },
		{ 10, { 4, 9, 1, 6 }, 3, 0x744980a63ab7fc6a },
		{ 10, { 1, 9, 2, 5 }, 7, 0x8cbe2ce9f0264fcc } } },
	{ "torch:seed=3407", 10, {
		{ 10, { 7, 0, 2, 5 }, 1, 0x1617a6f5cba720b4 },
		{ 10, { 7, 4, 0, 2 }, 8, 0x8ad2226aa0be7fbc },
		{ 10, { 4, 9, 1, 6 }, 3, 0x744980a63ab7fc6a } } },
	{ "torch:seed=3407", 1000, {
		{ 1000, { 757, 403, 192, 442 }, 685, 0x877083b4bb677e57 },
		{ 1000, { 204, 549, 879, 680 }, 154, 0xa0bf3e4303dfbafb },
		{ 1000, { 261, 378, 670, 45 }, 102, 0xb71f6f099808bd8b } } },
	{ "torch:seed=3407", 1000, {
		{ 1000, { 757, 403, 192, 442 }, 685, 0x877083b4bb677e57 },
		{ 1000, { 237, 760, 653, 236 }, 985, 0x87d06cc80806fec9 },
		{ 1000, { 204, 549, 879, 680 }, 154, 0xa0bf3e4303dfbafb } } },
	{ "torch:seed=42", 1000, {
		{ 1000, { 88, 494, 773, 894 }, 783, 0x41c87d685afe12c5 },
		{ 1000, { 696, 207, 547, 882 }, 319, 0x3ff87a2c5785587b },
		{ 1000, { 24, 930, 700, 456 }, 784, 0x263dba7cfd56b889 } } },
	{ "torch:seed=0", 10, {
		{ 10, { 3, 7, 5, 2 }, 4, 0x1dcec55ad6227c7e },
		{ 10, { 1, 3, 2, 7 }, 8, 0xf0767de53cacd846 },
		{ 10, { 6, 8, 5, 7 }, 9, 0xbe451a7a647a1428 } } },
	{ "torch:seed=0", 1000, {
		{ 1000, { 933, 484, 39, 190 }, 15, 0xe6adc3e640c5086d },
		{ 1000, { 238, 970, 438, 862 }, 257, 0x4783d11568b06135 },
		{ 1000, { 135, 47, 759, 466 }, 552, 0xdc1ca033798f98fb } } },
	{ "torch:seed=42", 10, {
		{ 10, { 6, 5, 4, 0 }, 7, 0xba255516fd7646e8 },
		{ 10, { 3, 6, 5, 8 }, 1, 0xd31f020d622b41ee },
		{ 10, { 7, 4, 5, 0 }, 6, 0x4f7243989019271a } } },
	{ "torch:seed=42", 1000, {
		{ 1000, { 876, 50, 408, 807 }, 910, 0x7bd61152af2c48b1 },
		{ 1000, { 845, 639, 391, 826 }, 829, 0x27b97fdf4e540897 },
		{ 1000, { 858, 905, 57, 589 }, 669, 0x5e1e78154d9b379b } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,epoch=0", 10, {
		{ 10, { 4, 1, 7, 5 }, 2, 0x5fb755c895d353d6 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,epoch=0", 10, {
		{ 5, { 4, 7, 3, 0 }, 6, 0x6bf7da3794dbee23 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,epoch=0", 10, {
		{ 5, { 1, 5, 9, 8 }, 2, 0xaa434395792a6b18 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,drop_last,epoch=0", 10, {
		{ 5, { 1, 5, 9, 8 }, 2, 0xaa434395792a6b18 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=0", 10, {
		{ 2, { 4, 6 }, 6, 0x0824f207b4dfe6af } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=0", 10, {
		{ 2, { 8, 9 }, 9, 0x084dbf07b502951a } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=0", 10, {
		{ 1, { 4 }, 4, 0xaf63b94c8601b113 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=0", 10, {
		{ 1, { 8 }, 8, 0xaf63c54c8601c577 } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,epoch=0", 10, {
		{ 1, { 9 }, 9, 0xaf63c44c8601c3c4 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,drop_last,epoch=1", 10, {
		{ 10, { 5, 6, 1, 2 }, 4, 0xec1661980f58e612 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,epoch=1", 10, {
		{ 5, { 5, 1, 0, 9 }, 7, 0x452dfd0d08baa165 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,drop_last,epoch=1", 10, {
		{ 5, { 5, 1, 0, 9 }, 7, 0x452dfd0d08baa165 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,drop_last,epoch=1", 10, {
		{ 5, { 6, 2, 8, 3 }, 4, 0x50958b94fe2fe054 } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,epoch=1", 10, {
		{ 2, { 2, 6 }, 6, 0x08395207b4f132d9 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=1", 10, {
		{ 2, { 3, 8 }, 8, 0x0835f607b4ee60ae } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,drop_last,epoch=1", 10, {
		{ 1, { 2 }, 2, 0xaf63bf4c8601bb45 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=1", 10, {
		{ 1, { 3 }, 3, 0xaf63be4c8601b992 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,epoch=5", 10, {
		{ 10, { 1, 4, 9, 6 }, 7, 0x0aec680f6a7b1a44 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,drop_last,epoch=5", 10, {
		{ 10, { 1, 4, 9, 6 }, 7, 0x0aec680f6a7b1a44 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,epoch=5", 10, {
		{ 5, { 4, 6, 5, 2 }, 7, 0xc69fe73fc3cbf789 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,drop_last,epoch=5", 10, {
		{ 5, { 1, 9, 3, 0 }, 8, 0x5e363f743dac4d5c } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=5", 10, {
		{ 2, { 1, 8 }, 8, 0x082f1a07b4e87f2c } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,epoch=5", 10, {
		{ 2, { 6, 4 }, 4, 0x082bc007b4e5b067 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=5", 10, {
		{ 1, { 1 }, 1, 0xaf63bc4c8601b62c } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,drop_last,epoch=5", 10, {
		{ 1, { 6 }, 6, 0xaf63bb4c8601b479 } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,epoch=5", 10, {
		{ 1, { 5 }, 5, 0xaf63b84c8601af60 } } },
	{ "torch-distributed:seed=42,world=1,ranks=0,epoch=0", 10, {
		{ 10, { 2, 6, 1, 8 }, 7, 0xb3b37708c70ce962 } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,epoch=0", 10, {
		{ 5, { 2, 1, 4, 0 }, 3, 0x3b798125b5f50bf1 } } },
	{ "torch-distributed:seed=42,world=2,ranks=1,epoch=0", 10, {
		{ 5, { 6, 8, 5, 9 }, 7, 0xe5a4354187b130f2 } } },
	{ "torch-distributed:seed=42,world=2,ranks=1,drop_last,epoch=0", 10, {
		{ 5, { 6, 8, 5, 9 }, 7, 0xe5a4354187b130f2 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,epoch=0", 10, {
		{ 2, { 2, 3 }, 3, 0x08395507b4f137f2 } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,epoch=0", 10, {
		{ 2, { 9, 5 }, 5, 0x084a4f07b4ffa0f3 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,drop_last,epoch=0", 10, {
		{ 1, { 2 }, 2, 0xaf63bf4c8601bb45 } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,drop_last,epoch=0", 10, {
		{ 1, { 9 }, 9, 0xaf63c44c8601c3c4 } } },
	{ "torch-distributed:seed=42,world=16,ranks=5,epoch=0", 10, {
		{ 1, { 5 }, 5, 0xaf63b84c8601af60 } } },
	{ "torch-distributed:seed=42,world=1,ranks=0,drop_last,epoch=3", 10, {
		{ 10, { 7, 6, 5, 3 }, 1, 0x3b658bd133d3903e } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,epoch=3", 10, {
		{ 5, { 7, 5, 4, 0 }, 2, 0x01659040be3c7285 } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,drop_last,epoch=3", 10, {
		{ 5, { 7, 5, 4, 0 }, 2, 0x01659040be3c7285 } } },
	{ "torch-distributed:seed=42,world=2,ranks=1,drop_last,epoch=3", 10, {
		{ 5, { 6, 3, 9, 8 }, 1, 0x2ed2078c5e81f202 } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,epoch=3", 10, {
		{ 2, { 3, 6 }, 6, 0x0835f007b4ee567c } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,epoch=3", 10, {
		{ 2, { 8, 9 }, 9, 0x084dbf07b502951a } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,drop_last,epoch=3", 10, {
		{ 1, { 3 }, 3, 0xaf63be4c8601b992 } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,drop_last,epoch=3", 10, {
		{ 1, { 8 }, 8, 0xaf63c54c8601c577 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,epoch=0", 1000, {
		{ 1000, { 44, 37, 675, 775 }, 354, 0x7ed880462a855ad9 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,drop_last,epoch=0", 1000, {
		{ 1000, { 44, 37, 675, 775 }, 354, 0x7ed880462a855ad9 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,epoch=0", 1000, {
		{ 500, { 37, 775, 209, 500 }, 354, 0xe5e3fa1f89aa61dd } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,drop_last,epoch=0", 1000, {
		{ 500, { 44, 675, 947, 719 }, 263, 0x7f913687302b89d1 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=0", 1000, {
		{ 125, { 44, 561, 256, 272 }, 214, 0x1f417172f575ca04 } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,epoch=0", 1000, {
		{ 125, { 775, 825, 562, 548 }, 206, 0xf6519cbb20eb5283 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=0", 1000, {
		{ 125, { 44, 561, 256, 272 }, 214, 0x1f417172f575ca04 } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,drop_last,epoch=0", 1000, {
		{ 125, { 775, 825, 562, 548 }, 206, 0xf6519cbb20eb5283 } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,epoch=0", 1000, {
		{ 63, { 209, 442, 630, 504 }, 745, 0xe8e2306c6f60a40c } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,drop_last,epoch=0", 1000, {
		{ 62, { 209, 442, 630, 504 }, 42, 0x0755f8029a71cf2d } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,drop_last,epoch=1", 1000, {
		{ 1000, { 845, 303, 66, 436 }, 639, 0xc273107c19736b81 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,epoch=1", 1000, {
		{ 500, { 845, 66, 239, 573 }, 935, 0x5c6786d0735e2bb9 } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,drop_last,epoch=1", 1000, {
		{ 500, { 845, 66, 239, 573 }, 935, 0x5c6786d0735e2bb9 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,drop_last,epoch=1", 1000, {
		{ 500, { 303, 436, 593, 999 }, 639, 0x84dd93479d9d4e3b } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,epoch=1", 1000, {
		{ 125, { 436, 955, 998, 155 }, 778, 0x07f2da00c48c6cf4 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=1", 1000, {
		{ 125, { 999, 485, 169, 585 }, 639, 0x686e1f9978abe145 } } },
	{ "torch-distributed:seed=0,world=8,ranks=3,drop_last,epoch=1", 1000, {
		{ 125, { 436, 955, 998, 155 }, 778, 0x07f2da00c48c6cf4 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=1", 1000, {
		{ 125, { 999, 485, 169, 585 }, 639, 0x686e1f9978abe145 } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,drop_last,epoch=1", 1000, {
		{ 62, { 593, 95, 592, 622 }, 331, 0x8e152f8c3493c064 } } },
	{ "torch-distributed:seed=0,world=1,ranks=0,epoch=5", 1000, {
		{ 1000, { 411, 49, 291, 695 }, 655, 0x18efcb290677feeb } } },
	{ "torch-distributed:seed=0,world=2,ranks=0,epoch=5", 1000, {
		{ 500, { 411, 291, 678, 112 }, 935, 0xfccf80259a878022 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,epoch=5", 1000, {
		{ 500, { 49, 695, 515, 606 }, 655, 0xd73afcfb0c2eb728 } } },
	{ "torch-distributed:seed=0,world=2,ranks=1,drop_last,epoch=5", 1000, {
		{ 500, { 49, 695, 515, 606 }, 655, 0xd73afcfb0c2eb728 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=5", 1000, {
		{ 125, { 411, 6, 55, 116 }, 886, 0xc057ada438192a06 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=5", 1000, {
		{ 125, { 606, 148, 577, 564 }, 655, 0x43c2e5f3fc6ec62b } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=5", 1000, {
		{ 125, { 411, 6, 55, 116 }, 886, 0xc057ada438192a06 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=5", 1000, {
		{ 125, { 606, 148, 577, 564 }, 655, 0x43c2e5f3fc6ec62b } } },
	{ "torch-distributed:seed=0,world=16,ranks=5,epoch=5", 1000, {
		{ 63, { 515, 666, 879, 303 }, 389, 0x9efb7ddd7e832f8a } } },
	{ "torch-distributed:seed=42,world=1,ranks=0,epoch=0", 1000, {
		{ 1000, { 542, 618, 816, 68 }, 455, 0x7593c28448000885 } } },
	{ "torch-distributed:seed=42,world=1,ranks=0,drop_last,epoch=0", 1000, {
		{ 1000, { 542, 618, 816, 68 }, 455, 0x7593c28448000885 } } },
	{ "torch-distributed:seed=42,world=2,ranks=1,epoch=0", 1000, {
		{ 500, { 618, 68, 215, 585 }, 455, 0x693c395e43dcb851 } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,drop_last,epoch=0", 1000, {
		{ 500, { 542, 816, 94, 60 }, 96, 0xff3dfd947f1d3871 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,epoch=0", 1000, {
		{ 125, { 542, 942, 315, 467 }, 894, 0x0298d059e3b89c23 } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,epoch=0", 1000, {
		{ 125, { 68, 829, 797, 595 }, 335, 0x66a2f832558b4280 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,drop_last,epoch=0", 1000, {
		{ 125, { 542, 942, 315, 467 }, 894, 0x0298d059e3b89c23 } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,drop_last,epoch=0", 1000, {
		{ 125, { 68, 829, 797, 595 }, 335, 0x66a2f832558b4280 } } },
	{ "torch-distributed:seed=42,world=16,ranks=5,epoch=0", 1000, {
		{ 63, { 215, 40, 159, 327 }, 638, 0x66e5f6ab1412d5f0 } } },
	{ "torch-distributed:seed=42,world=16,ranks=5,drop_last,epoch=0", 1000, {
		{ 62, { 215, 40, 159, 327 }, 7, 0x740ef5ca4031782e } } },
	{ "torch-distributed:seed=42,world=1,ranks=0,drop_last,epoch=3", 1000, {
		{ 1000, { 107, 330, 625, 214 }, 614, 0x64353fb75e042e11 } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,epoch=3", 1000, {
		{ 500, { 107, 625, 592, 917 }, 859, 0x89948e54e91d7b2d } } },
	{ "torch-distributed:seed=42,world=2,ranks=0,drop_last,epoch=3", 1000, {
		{ 500, { 107, 625, 592, 917 }, 859, 0x89948e54e91d7b2d } } },
	{ "torch-distributed:seed=42,world=2,ranks=1,drop_last,epoch=3", 1000, {
		{ 500, { 330, 214, 864, 350 }, 614, 0x6340052931d0bc45 } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,epoch=3", 1000, {
		{ 125, { 214, 386, 62, 647 }, 255, 0xd8deca2c5a59f0bd } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,epoch=3", 1000, {
		{ 125, { 350, 443, 300, 573 }, 614, 0xf64597be5735ad4e } } },
	{ "torch-distributed:seed=42,world=8,ranks=3,drop_last,epoch=3", 1000, {
		{ 125, { 214, 386, 62, 647 }, 255, 0xd8deca2c5a59f0bd } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,drop_last,epoch=3", 1000, {
		{ 125, { 350, 443, 300, 573 }, 614, 0xf64597be5735ad4e } } },
	{ "torch-distributed:seed=42,world=16,ranks=5,drop_last,epoch=3", 1000, {
		{ 62, { 864, 289, 677, 564 }, 20, 0x65c22e0c886335ea } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=0", 50000, {
		{ 6250, { 36044, 24681, 24936, 4480 }, 24805, 0x39653f2a4f3c2473 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=0", 50000, {
		{ 6250, { 28026, 3486, 34981, 4115 }, 31476, 0x1b06e706b3c422d2 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=0", 50000, {
		{ 6250, { 36044, 24681, 24936, 4480 }, 24805, 0x39653f2a4f3c2473 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=0", 50000, {
		{ 6250, { 28026, 3486, 34981, 4115 }, 31476, 0x1b06e706b3c422d2 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,epoch=1", 50000, {
		{ 6250, { 45845, 12631, 48790, 37427 }, 22305, 0x591c9d0379654759 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,epoch=1", 50000, {
		{ 6250, { 47144, 575, 4044, 22294 }, 8475, 0x8cc242f0116405c8 } } },
	{ "torch-distributed:seed=0,world=8,ranks=0,drop_last,epoch=1", 50000, {
		{ 6250, { 45845, 12631, 48790, 37427 }, 22305, 0x591c9d0379654759 } } },
	{ "torch-distributed:seed=0,world=8,ranks=7,drop_last,epoch=1", 50000, {
		{ 6250, { 47144, 575, 4044, 22294 }, 8475, 0x8cc242f0116405c8 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,epoch=0", 50000, {
		{ 6250, { 37542, 2190, 45747, 30883 }, 34562, 0xd2cd0cc5324e56dd } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,epoch=0", 50000, {
		{ 6250, { 10863, 47682, 38215, 8205 }, 33082, 0xb7fb19457906db59 } } },
	{ "torch-distributed:seed=42,world=8,ranks=0,drop_last,epoch=0", 50000, {
		{ 6250, { 37542, 2190, 45747, 30883 }, 34562, 0xd2cd0cc5324e56dd } } },
	{ "torch-distributed:seed=42,world=8,ranks=7,drop_last,epoch=0", 50000, {
		{ 6250, { 10863, 47682, 38215, 8205 }, 33082, 0xb7fb19457906db59 } } },
};
