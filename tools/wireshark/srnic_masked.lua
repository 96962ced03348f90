-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
--
-- srnic - masked atomics in Wireshark and tshark
--
--   tshark -X lua_script:srnic_masked.lua -r roce.pcap -Y srnic.masked
--
-- Documentation/wire.rst describes the packet.  Wireshark's own dissector shows its BTH, but
-- passes payloads on only for opcodes that it knows; so this one runs after all others.

local OPERATIONS = { [0xd4] = "Masked CmpSwap", [0xd5] = "Masked FetchAdd" }
local MAGIC = 0x73524e4d
local VERSION = 1
local BTH_BYTES, HEADER_BYTES = 12, 24 + 28

local masked = Proto("srnic.masked", "srnic masked atomic")

local magic = ProtoField.uint32("srnic.masked.magic", "Identifier", base.HEX)
local version = ProtoField.uint8("srnic.masked.version", "Version")
local mask = ProtoField.uint64("srnic.masked.mask", "Compare mask, or last bits of fields", base.HEX)
local swap_mask = ProtoField.uint64("srnic.masked.swap_mask", "Swap mask", base.HEX)
local va = ProtoField.uint64("srnic.masked.va", "Virtual address", base.HEX)
local r_key = ProtoField.uint32("srnic.masked.r_key", "Remote key", base.HEX)
local swap = ProtoField.uint64("srnic.masked.swap", "Swap or add data", base.HEX)
local compare = ProtoField.uint64("srnic.masked.compare", "Compare data", base.HEX)

masked.fields = { magic, version, mask, swap_mask, va, r_key, swap, compare }

local bth_opcode = Field.new("infiniband.bth.opcode")

function masked.dissector(tvb, pinfo, root)
	local opcode = bth_opcode()
	local headers, at, tree

	if not opcode or not OPERATIONS[opcode.value] then
		return
	end
	at = opcode.offset + BTH_BYTES
	if tvb:captured_len() < at + HEADER_BYTES then
		return
	end
	headers = tvb(at, HEADER_BYTES)
	if headers(0, 4):uint() ~= MAGIC or headers(4, 1):uint() ~= VERSION then
		return	-- another manufacturer's, or another version
	end
	tree = root:add(masked, headers)
	tree:add(magic, headers(0, 4))
	tree:add(version, headers(4, 1))
	tree:add(mask, headers(8, 8))
	tree:add(swap_mask, headers(16, 8))
	tree:add(va, headers(24, 8))
	tree:add(r_key, headers(32, 4))
	tree:add(swap, headers(36, 8))
	tree:add(compare, headers(44, 8))
	pinfo.cols.info:set(OPERATIONS[opcode.value])
end

register_postdissector(masked)
