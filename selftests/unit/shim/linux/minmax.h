/* SPDX-License-Identifier: GPL-2.0 */
/*
 * srnic - comparing and exchanging for tests in user space
 */
#ifndef SRNIC_SHIM_LINUX_MINMAX_H
#define SRNIC_SHIM_LINUX_MINMAX_H

#define min(a, b)			\
({					\
	__auto_type _a = (a);		\
	__auto_type _b = (b);		\
	_a < _b ? _a : _b;		\
})

#define max(a, b)			\
({					\
	__auto_type _a = (a);		\
	__auto_type _b = (b);		\
	_a > _b ? _a : _b;		\
})

#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define clamp(v, lo, hi)	max(min(v, hi), lo)

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp_t(type, v, lo, hi)	clamp((type)(v), (type)(lo), (type)(hi))

#define min_not_zero(a, b)		\
({					\
	__auto_type _x = (a);		\
	__auto_type _y = (b);		\
	!_x ? _y : !_y ? _x : min(_x, _y);	\
})

#define abs_diff(a, b)			\
({					\
	__auto_type _a = (a);		\
	__auto_type _b = (b);		\
	_a > _b ? _a - _b : _b - _a;	\
})

#define swap(a, b)			\
({					\
	__auto_type _a = (a);		\
	(a) = (b);			\
	(b) = _a;			\
})

#endif /* SRNIC_SHIM_LINUX_MINMAX_H */
