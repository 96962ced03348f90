// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* <linux/iosys-map.h>, which was <linux/dma-buf-map.h> before, 5.18 */
#include <linux/iosys-map.h>

bool probe(const struct iosys_map *map);
bool probe(const struct iosys_map *map)
{
	return map->is_iomem;
}
