/**
 * The workload files of the public matching-engine benchmark (github.com/flash1-dev/matching-engine-benchmark, "On-disk
 * format" of its docs/METHODOLOGY.md): a header of 16 bytes, `[u64 magic][u32 version][u32 count]`, then so many records of 40
 * bytes, `[u8 type][u8 side][u8 ioc][u8 pad][u32 quantity][u64 sequence][u64 order id][i64 ticks][i64 reserved]`, all little
 * endian.
 */
export interface OracleMessage {
  readonly type: 'new' | 'cancel' | 'modify'
  readonly side: 'buy' | 'sell'
  /** What does not match at once is dropped. */
  readonly ioc: boolean
  readonly lots: number
  /** Unique, in ascending order. */
  readonly seq: number
  readonly orderId: number
  readonly ticks: number
}

/** The file is not a workload of the benchmark. */
export class NotAWorkload extends Error {
  override readonly name = 'NotAWorkload'
}

const MAGIC = 0x4d45_4257_5f30_3031n
const VERSION = 1
const HEADER_BYTES = 16
const RECORD_BYTES = 40
const TYPES = ['new', 'cancel', 'modify'] as const
const SIDES = ['buy', 'sell'] as const

/** Reads the messages one after the other. Throws NotAWorkload. */
export function* readOracleFile(bytes: Buffer): Generator<OracleMessage> {
  if (bytes.length < HEADER_BYTES || bytes.readBigUInt64LE(0) !== MAGIC) {
    throw new NotAWorkload('it does not begin as a workload file of the benchmark')
  }
  const version = bytes.readUInt32LE(8)
  const count = bytes.readUInt32LE(12)
  if (version !== VERSION) throw new NotAWorkload(`its version is ${version}, not ${VERSION}`)
  const needed = HEADER_BYTES + count * RECORD_BYTES
  if (bytes.length !== needed) {
    throw new NotAWorkload(`${count} records need ${needed} bytes, it has ${bytes.length}`)
  }
  for (let at = HEADER_BYTES; at < needed; at += RECORD_BYTES) yield readRecord(bytes, at)
}

function readRecord(bytes: Buffer, at: number): OracleMessage {
  const type = TYPES[bytes.readUInt8(at)]
  const side = SIDES[bytes.readUInt8(at + 1)]
  if (type === undefined || side === undefined) {
    throw new NotAWorkload(`the record at byte ${at} is of no known type or side`)
  }
  return {
    type,
    side,
    ioc: bytes.readUInt8(at + 2) === 1,
    lots: bytes.readUInt32LE(at + 4),
    seq: Number(bytes.readBigUInt64LE(at + 8)),
    orderId: Number(bytes.readBigUInt64LE(at + 16)),
    ticks: Number(bytes.readBigInt64LE(at + 24)),
  }
}

/** The inverse of readOracleFile. */
export function writeOracleFile(messages: readonly OracleMessage[]): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + messages.length * RECORD_BYTES)
  bytes.writeBigUInt64LE(MAGIC, 0)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(messages.length, 12)
  for (const [index, { type, side, ioc, lots, seq, orderId, ticks }] of messages.entries()) {
    const at = HEADER_BYTES + index * RECORD_BYTES
    bytes.writeUInt8(TYPES.indexOf(type), at)
    bytes.writeUInt8(SIDES.indexOf(side), at + 1)
    bytes.writeUInt8(ioc ? 1 : 0, at + 2)
    bytes.writeUInt32LE(lots, at + 4)
    bytes.writeBigUInt64LE(BigInt(seq), at + 8)
    bytes.writeBigUInt64LE(BigInt(orderId), at + 16)
    bytes.writeBigInt64LE(BigInt(ticks), at + 24)
  }
  return bytes
}
