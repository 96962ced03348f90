/* SPDX-License-Identifier: GPL-2.0 */
/* srnic - no trace points, so no words for them, for tests in user space */
