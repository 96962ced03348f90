-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
--
-- srnic - SACK packets in Wireshark and tshark: which requests were kept out of order
--
--   tshark -X lua_script:srnic_sack.lua -r roce.pcap -Y srnic.sack
--
-- Documentation/wire.rst describes the packet.  Wireshark's own dissector shows its BTH, but
-- passes payloads on only for opcodes that it knows; so this one runs after all others.

local OPCODE = 0xd3
local MAGIC = 0x73524e53
local VERSION = 1
local RANGES_MAX = 32
local BTH_BYTES, HEAD_BYTES, RANGE_BYTES, ICRC_BYTES = 12, 12, 8, 4

local sack = Proto("srnic.sack", "srnic selective acknowledgment")

local magic = ProtoField.uint32("srnic.sack.magic", "Identifier", base.HEX)
local version = ProtoField.uint8("srnic.sack.version", "Version")
local flags = ProtoField.uint8("srnic.sack.flags", "Flags", base.HEX)
local reply = ProtoField.bool("srnic.sack.reply", "Asks for an answer", 8, nil, 0x01)
local count = ProtoField.uint8("srnic.sack.count", "Ranges")
local pace = ProtoField.uint8("srnic.sack.pace", "Pace of responses")
local step = ProtoField.uint64("srnic.sack.step", "Time for each response (ns)")
local last = ProtoField.uint32("srnic.sack.last", "Last PSN seen")
local range = ProtoField.bytes("srnic.sack.range", "Range")
local first = ProtoField.uint32("srnic.sack.first", "First PSN")
local number = ProtoField.uint32("srnic.sack.number", "Number of PSNs")
local malformed = ProtoExpert.new("srnic.sack.malformed", "Malformed",
	expert.group.MALFORMED, expert.severity.WARN)

sack.fields = { magic, version, flags, reply, count, pace, step, last, range, first, number }
sack.experts = { malformed }

local bth_opcode = Field.new("infiniband.bth.opcode")
local udp_length = Field.new("udp.length")

-- Bytes of payload behind the BTH at @at, as far as they were captured
local function payload_bytes(tvb, at)
	local length = udp_length()
	local bytes = length and length.value - 8 - BTH_BYTES - ICRC_BYTES or 0

	return math.max(0, math.min(bytes, tvb:reported_length_remaining(at + BTH_BYTES) - ICRC_BYTES,
		tvb:captured_len() - at - BTH_BYTES))
end

local function add_ranges(tree, tvb, num)
	local subtree
	local at = HEAD_BYTES

	if num > RANGES_MAX then
		return false
	end
	for _ = 1, num do
		if at + RANGE_BYTES > tvb:len() then
			return false
		end
		subtree = tree:add(range, tvb(at, RANGE_BYTES))
		subtree:set_text(string.format("From PSN %u on: %u", tvb(at, 4):uint(),
			tvb(at + 4, 4):uint()))
		subtree:add(first, tvb(at, 4))
		subtree:add(number, tvb(at + 4, 4))
		at = at + RANGE_BYTES
	end
	return at == tvb:len()
end

-- Documentation/wire.rst, "SACK"; 0: none is wanted
local function add_pace(tree, tvb)
	local value = tvb:uint()

	tree = tree:add(pace, tvb)
	if value > 0 then
		tree:add(step, tvb, UInt64(8 + value % 8):lshift(math.floor(value / 8))):set_generated()
	end
end

local function add_payload(tree, tvb)
	tree:add(magic, tvb(0, 4))
	tree:add(version, tvb(4, 1))
	tree:add(flags, tvb(5, 1)):add(reply, tvb(5, 1))
	tree:add(count, tvb(6, 1))
	add_pace(tree, tvb(7, 1))
	tree:add(last, tvb(8, 4))
	return tvb(4, 1):uint() == VERSION and add_ranges(tree, tvb, tvb(6, 1):uint())
end

function sack.dissector(tvb, pinfo, root)
	local opcode = bth_opcode()
	local bytes, payload, tree

	if not opcode or opcode.value ~= OPCODE then
		return
	end
	bytes = payload_bytes(tvb, opcode.offset)
	if bytes < HEAD_BYTES then
		return
	end
	payload = tvb(opcode.offset + BTH_BYTES, bytes)
	if payload(0, 4):uint() ~= MAGIC then
		return	-- another manufacturer's
	end
	tree = root:add(sack, payload)
	if add_payload(tree, payload) then
		pinfo.cols.info:set(string.format("SACK, %u ranges", payload(6, 1):uint()))
	else
		tree:add_proto_expert_info(malformed)
	end
end

register_postdissector(sack)
