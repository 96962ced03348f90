/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - nothing more to define, for tests in user space */
