import type { Address, Hex } from '../../core/action.js'
import { rpcErrorOf } from '../abi/errors.js'
import type { BlockId } from './call-batch.js'
import { orUnreachable, type ChainClient } from './client.js'
import { undefinedOnFailure } from './read-failure.js'

/**
 * Shares reads among callers: the result of a read that began after the call. At most one read runs and one waits.
 */
export function createSharedRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<unknown> | undefined
  let next: Promise<Value> | undefined

  function begin(): Promise<Value> {
    const reading = read()
    const ended = reading.then(
      () => undefined,
      () => undefined,
    )
    running = ended
    void ended.then(() => {
      if (running === ended) running = undefined
    })
    return reading
  }

  return () => {
    if (running === undefined) return begin()
    // A read that already runs may show what was true before the call.
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }
}

/** A block and the one that it follows. */
export interface ChainHead extends BlockPlace {
  readonly parentHash: Hex
}

/** The newest block of the node. Rejects with ChainUnreachable. */
export async function readHead(client: ChainClient): Promise<ChainHead> {
  const { number, hash, parentHash, timestamp } = await orUnreachable(
    'newest block',
    client.getBlock({ blockTag: 'latest' }),
  )
  return { number, hash, parentHash, timestamp }
}

/** The canonical block with this number. Rejects with ChainUnreachable, also when there is no such block. */
export async function readBlock(client: ChainClient, number: bigint): Promise<BlockPlace> {
  const block = client.getBlock({ blockNumber: number })
  const { hash, timestamp } = await orUnreachable(`block ${number}`, block)
  return { number, hash, timestamp }
}

/**
 * The hash of the canonical block with this number. Rejects with ChainUnreachable, also when there is no such block.
 */
export async function readBlockHash(client: ChainClient, number: bigint): Promise<Hex> {
  const { hash } = await orUnreachable(`block ${number}`, client.getBlock({ blockNumber: number }))
  return hash
}

/** A block, and how many transactions of a sender are mined up to it. */
export interface SenderHead {
  readonly blockHash: Hex
  readonly count: number
}

/** The newest block, with the sender's count; rejects with ChainUnreachable. */
export function readSenderHead(client: ChainClient, address: Address): Promise<SenderHead> {
  return orUnreachable('newest block', fetchHead(client, address))
}

/** How many transactions of the address are mined up to the block; rejects with ChainUnreachable. */
export function countAt(client: ChainClient, address: Address, blockHash: Hex): Promise<number> {
  return orUnreachable('nonce in a block', client.getTransactionCount({ address, blockHash }))
}

/**
 * Whether the node still gives the same count for the block. A node that is importing the next block may mix the two,
 * and then it is unknown which of them the reads in between saw. Rejects with ChainUnreachable.
 */
export async function isUnchanged(
  client: ChainClient,
  address: Address,
  { blockHash, count }: SenderHead,
): Promise<boolean> {
  return (await countAt(client, address, blockHash)) === count
}

async function fetchHead(client: ChainClient, address: Address): Promise<SenderHead> {
  const { hash: blockHash } = await client.getBlock({ blockTag: 'latest' })
  // By hash: the count of another block would count a transaction twice, or not at all.
  const count = await client.getTransactionCount({ address, blockHash })
  return { blockHash, count }
}

/** The largest accepted difference between this machine's clock and the newest block, seconds. */
const CLOCK_TOLERANCE_SEC = 60
/** The newest block is in this machine's future: its clock is slow, and orders would outlive their expiry on chain. */
export class ClockDiffers extends Error {
  override readonly name = 'ClockDiffers'
}

interface ClockCheck {
  readonly client: Pick<ChainClient, 'getBlock'>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Called when the newest block is old: the clock is fast, or the chain stands still, as a local one may. */
  readonly onWarning: (message: string) => void
}

/** Compares the clock with the newest block; passes when the chain cannot be read. Throws ClockDiffers. */
export async function checkClock(check: ClockCheck): Promise<void> {
  const { client, nowMs, onWarning } = check
  const blockSec = await readBlockSec(client)
  if (blockSec === undefined) return
  const aheadSec = BigInt(Math.floor(nowMs() / 1_000)) - blockSec
  if (-aheadSec > CLOCK_TOLERANCE_SEC) {
    throw new ClockDiffers(
      `the clock is ${-aheadSec} s behind the newest block, at most ${CLOCK_TOLERANCE_SEC} s is allowed: set the clock`,
    )
  }
  if (aheadSec > CLOCK_TOLERANCE_SEC) {
    onWarning(`the newest block is ${aheadSec} s old: the chain stands still, or the clock is fast`)
  }
}

async function readBlockSec(client: ClockCheck['client']): Promise<bigint | undefined> {
  try {
    return (await client.getBlock({ blockTag: 'latest' })).timestamp
  } catch (error) {
    // The venue also starts without the chain, so a missing answer is not an error.
    return undefinedOnFailure(error)
  }
}

/** A block to read at. */
export interface PinnedBlock {
  readonly number: bigint
  readonly hash: Hex
}

/** The newest block. Rejects with ChainUnreachable. */
export async function readNewestBlock(client: ChainClient): Promise<PinnedBlock> {
  const { number, hash } = await orUnreachable('newest block', client.getBlock())
  return { number, hash }
}

/** Whether the chain still holds the block. Rejects with ChainUnreachable. */
export async function holdsBlock(client: ChainClient, block: PinnedBlock): Promise<boolean> {
  const asked = client.getBlock({ blockNumber: block.number })
  const { hash } = await orUnreachable('a block again', asked)
  return hash === block.hash
}

/** A block to read at, with its time in unix seconds. */
export interface BlockPlace extends PinnedBlock {
  readonly timestamp: bigint
}

/** The newest block by now; undefined when it cannot be read. */
export type HeadReader = () => Promise<BlockPlace | undefined>

/** Callers of one moment share a read. */
export const createHeadReader = (client: Pick<ChainClient, 'getBlock'>): HeadReader =>
  createSharedRead(() => client.getBlock().catch(undefinedOnFailure))

/**
 * Reads at the newest block by now, so that those who read there share calls. Reads at whichever block is the newest when
 * there is no reader of heads, it has no answer, or the node answers that it cannot read there: it may be behind the block,
 * or the block may be gone. The number is that of the block, where it is known.
 */
export async function readAtHead<Value>(
  readHead: HeadReader | undefined,
  read: (at: BlockId, blockNumber?: bigint) => Promise<Value>,
): Promise<Value> {
  const head = await readHead?.()
  if (head === undefined) return read('latest')
  try {
    return await read({ blockHash: head.hash }, head.number)
  } catch (error) {
    if (rpcErrorOf(error) === undefined) throw error
    return read('latest')
  }
}
