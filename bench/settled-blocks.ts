import { decodeBlock } from '../bus-schemas/blocks.js'
import { feedStream } from '../bus-schemas/subjects.js'
import type { Bus } from '../runtime/bus/bus.js'

/** Matches of the market's feed since the last reset. */
export interface Settlements {
  /** Time at which each match was proposed, Unix ms. */
  readonly proposedAtMs: readonly number[]
  /** Settled matches by block of the chain. */
  readonly settled: ReadonlyMap<bigint, number>
  /** The transactions that settled them. */
  readonly hashes: ReadonlySet<string>
  forget(): void
}

export interface SettledBlock {
  readonly settled: number
  readonly gasShare: number
}

export async function followSettlements(bus: Bus, market: string): Promise<Settlements> {
  const proposedAtMs: number[] = []
  const settled = new Map<bigint, number>()
  const hashes = new Set<string>()
  await bus.follow({
    stream: feedStream(market),
    fromSeq: 1,
    onMessage: ({ data }) => {
      for (const change of decodeBlock(data).changes) {
        // Counts the maker's side only, so that each match is counted once.
        if (change.kind === 'OrderMatched') {
          proposedAtMs.push(Date.now())
        } else if (change.kind === 'OrderFilled' && change.fill.liquidity === 'taker') {
          const { blockNumber, txHash } = change.fill
          hashes.add(txHash)
          settled.set(blockNumber, (settled.get(blockNumber) ?? 0) + 1)
        }
      }
    },
    onError: (error) => {
      throw error
    },
  })
  const forget = (): void => {
    proposedAtMs.length = 0
    settled.clear()
    hashes.clear()
  }
  return { proposedAtMs, settled, hashes, forget }
}

/**
 * The blocks that could have been full: when the block before was made, at least `blockHolds` matches were pending, which
 * fill one. When there is no such block, all blocks from the first to the last with matches.
 */
export async function blocksUnderLoad(
  rpcUrl: string,
  { proposedAtMs, settled }: Settlements,
  blockHolds: number,
): Promise<SettledBlock[]> {
  const numbers = [...settled.keys()].sort((a, b) => Number(a - b))
  const [first = 0n] = numbers
  const last = numbers.at(-1) ?? 0n
  const all: SettledBlock[] = []
  const loaded: SettledBlock[] = []
  let { atMs: begunMs } = await blockOf(rpcUrl, first - 1n)
  let done = 0
  for (let number = first; number <= last; number += 1n) {
    const { atMs, gasShare } = await blockOf(rpcUrl, number)
    const block = { settled: settled.get(number) ?? 0, gasShare }
    const proposed = proposedAtMs.filter((ms) => ms <= begunMs).length
    all.push(block)
    if (proposed - done >= blockHolds) loaded.push(block)
    done += block.settled
    begunMs = atMs
  }
  return loaded.length > 0 ? loaded : all
}

/** Gas that the transactions of the settled matches used, by match. */
export async function gasOfMatch(
  rpcUrl: string,
  { settled, hashes }: Settlements,
): Promise<number> {
  let gas = 0
  for (const hash of hashes) {
    const receipt = await ask<'gasUsed'>(rpcUrl, 'eth_getTransactionReceipt', [hash])
    gas += Number(receipt.gasUsed)
  }
  return gas / [...settled.values()].reduce((sum, each) => sum + each, 0)
}

async function ask<Field extends string>(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
): Promise<Readonly<Record<Field, string>>> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result } = (await answer.json()) as { readonly result: Readonly<Record<Field, string>> }
  return result
}

async function blockOf(rpcUrl: string, number: bigint) {
  const params = [`0x${number.toString(16)}`, false]
  const block = ask<'gasUsed' | 'gasLimit' | 'timestamp'>(rpcUrl, 'eth_getBlockByNumber', params)
  const result = await block
  return {
    gasShare: Number(result.gasUsed) / Number(result.gasLimit),
    // The begin of the block's second, so that no match counts as pending that arrived later.
    atMs: Number(result.timestamp) * 1000,
  }
}
