import { exactQuantityOf } from './answer-form.js'
import { ReadFailure } from './read-failure.js'

/** The node is on another chain than this process, or has not named its chain yet: what it says counts as no answer. */
export class OtherChain extends ReadFailure {
  override readonly name = 'OtherChain'
  constructor(
    message: string,
    /** The chain that the node has just named, where that was the question. */
    readonly found?: number,
  ) {
    super(message)
  }
}

interface GuardedNode {
  readonly chainId: number
  /** Why its answers count as none; undefined while they count. */
  why: string | undefined
}

/** By address. A process has one node, which all its clients share; guard-chain.ts alone writes. */
const guarded = new Map<string, GuardedNode>()

/** From now on answers of the node count only while `setWhy` was called last with undefined. */
export function holdToChain(
  rpcUrl: string,
  chainId: number,
): { readonly setWhy: (why: string | undefined) => void; readonly release: () => void } {
  const node: GuardedNode = { chainId, why: 'it has not named its chain yet' }
  guarded.set(rpcUrl, node)
  return {
    setWhy: (why) => (node.why = why),
    release: () => {
      if (guarded.get(rpcUrl) === node) guarded.delete(rpcUrl)
    },
  }
}

/** The words for a node on another chain. */
export const onOtherChain = (chainId: number, found: number): string =>
  `the deployment is on chain ${chainId}, the node on ${found}`

const CHAIN_ID = 'eth_chainId'

/** Throws OtherChain for a question to a guarded node whose answers do not count; its chain may always be asked. */
export function refuseOtherChain(rpcUrl: string, method: string): void {
  const why = guarded.get(rpcUrl)?.why
  if (why !== undefined && method !== CHAIN_ID) throw new OtherChain(why)
}

/** Throws OtherChain for an answer that does not count any more, or that names another chain. */
export function checkChainOf(rpcUrl: string, method: string, answer: unknown): void {
  refuseOtherChain(rpcUrl, method)
  const node = guarded.get(rpcUrl)
  if (node === undefined || method !== CHAIN_ID) return
  const found = exactQuantityOf(answer, 'the chain id')
  if (found !== node.chainId) throw new OtherChain(onOtherChain(node.chainId, found), found)
}
