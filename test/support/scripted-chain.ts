import { encodeErrorResult, parseAbi, RpcRequestError } from 'viem'
import type { ChainClient } from '../../chain/reads/client.js'
import type { Hex } from '../../core/action.js'
import { writeWords } from '../../core/entry/read-action.js'
import { batchAnswer, batchedCalls } from './batched-calls.js'

/** One `eth_call` as the node gets it. */
export interface AskedCall {
  readonly to: string
  readonly data: Hex
  readonly at: unknown
}

/** Words, raw bytes, or `revert`. */
export type ScriptedAnswer = readonly bigint[] | Hex | 'revert'

export interface ScriptedChain {
  readonly client: ChainClient
  readonly calls: AskedCall[]
  /** Reads of the newest block. */
  blocks: number
  /** How the node answers; may be replaced, and may hold an answer back. */
  answer: (call: AskedCall) => ScriptedAnswer | Promise<ScriptedAnswer>
  head: () => Promise<{ number: bigint; hash: Hex; timestamp: bigint }>
}

/** A node that answers what a test says. */
export function aScriptedChain(answer: ScriptedChain['answer']): ScriptedChain {
  const chain: ScriptedChain = {
    calls: [],
    blocks: 0,
    answer,
    head: () =>
      Promise.resolve({ number: 5n, hash: `0x${'5'.repeat(64)}`, timestamp: 1_795_255_200n }),
    client: {
      getBlock: () => {
        chain.blocks += 1
        return chain.head()
      },
      request: async ({ params }: { params: [{ to?: string; data: Hex }, unknown] }) => {
        const [{ to, data }, at] = params
        const ask = async (call: AskedCall): Promise<Hex | undefined> => {
          chain.calls.push(call)
          const said = await chain.answer(call)
          if (said === 'revert') return undefined
          return typeof said === 'string' ? said : writeWords(said)
        }
        if (to === undefined) {
          const calls = batchedCalls(data).map((call) => ({ data: '0x' as const, ...call, at }))
          return batchAnswer(await Promise.all(calls.map(ask)))
        }
        const answer = await ask({ to, data, at })
        if (answer === undefined) throw reverted({ to, data, at })
        return answer
      },
    } as unknown as ChainClient,
  }
  return chain
}

const staleAbi = parseAbi(['error BLF_DataTooOld()'])

function reverted({ data }: AskedCall): RpcRequestError {
  const revert = encodeErrorResult({ abi: staleAbi, errorName: 'BLF_DataTooOld' })
  const error = { code: 3, message: 'execution reverted', data: revert }
  return new RpcRequestError({ body: { data }, error, url: 'http://node' })
}
