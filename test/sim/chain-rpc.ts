import {
  futureTradeModuleAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { writeWords } from '../../core/entry/read-action.js'
import { batchAnswer, batchedCalls } from '../support/batched-calls.js'
import { callBatchExecutor } from './batch-contract.js'
import { logsOf, type LogFilter } from './chain-logs.js'
import { blockRecord, codeBefore, hex, receiptRecord, transactionRecord } from './chain-records.js'
import {
  AT,
  balanceOf,
  CHAIN_ID,
  copyForMatch,
  copyState,
  FEE_ACCOUNT,
  mayCall,
  Revert,
  revertData,
  type ChainState,
} from './chain-state.js'
import type { ChainBlock, SimulatedChain } from './chain.js'
import { contractInterface } from './contract-interface.js'
import { applyMatch, fillKey, isCodeAt, isModule, type SettlingCall } from './contracts.js'
import { callFutureAsset } from './future-contract.js'
import { callFuturesManager } from './futures-manager.js'
import { callAuction, callPerpAsset, callPerpManager } from './perp-contract.js'
import { askWallet, type Overrides } from './wallet-calls.js'

/** What the node answers to one call: a result or the error object of JSON-RPC. */
type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }
interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Hex
}
interface RpcCall {
  readonly id: number
  readonly method: string
  readonly params?: readonly unknown[]
}

export interface RpcOptions {
  readonly chain: SimulatedChain
  /** What the executor has for gas, wei. */
  readonly executor: { readonly balanceWei: () => bigint }
  /** Hears of each raw transaction before the node looks at it. */
  readonly onRaw: (raw: Hex) => void
  /** Whether the node can trace; without it a revert is found by calling again. */
  readonly traces: boolean
}

const matching = contractInterface(matchingAbi)
const subAccounts = contractInterface(subAccountsAbi)
const tradeModule = contractInterface([...tradeModuleAbi, ...futureTradeModuleAbi])
/** Answers the text of a JSON-RPC request, one call or a batch. An unknown method is answered with an error. */
export function answerRpc(options: RpcOptions, text: string): string {
  const parsed = JSON.parse(text) as RpcCall | readonly RpcCall[]
  const one = (call: RpcCall) => ({ jsonrpc: '2.0', id: call.id, ...answerCall(options, call) })
  return JSON.stringify('length' in parsed ? parsed.map(one) : one(parsed))
}

function answerCall(options: RpcOptions, { method, params = [] }: RpcCall): RpcOutcome {
  const answer = METHODS[method]
  if (answer === undefined) return { error: { code: -32_601, message: `no method ${method}` } }
  try {
    return answer(options, params)
  } catch (error) {
    if (error instanceof Revert) return { error: revertError(error.error) }
    if (error instanceof UnknownBlock) return { error: { code: -32_000, message: error.message } }
    throw error
  }
}

const revertError = (name: string): RpcError => ({
  code: 3,
  message: 'execution reverted',
  data: revertData(name),
})

type Method = (options: RpcOptions, params: readonly unknown[]) => RpcOutcome

const METHODS: Readonly<Record<string, Method>> = {
  eth_chainId: () => ({ result: hex(CHAIN_ID) }),
  eth_blockNumber: ({ chain }) => ({ result: hex(chain.head().number) }),
  eth_maxPriorityFeePerGas: () => ({ result: hex(1_000_000) }),
  eth_gasPrice: ({ chain }) => ({ result: hex(chain.head().baseFee) }),
  eth_getBalance: ({ executor }) => ({ result: hex(executor.balanceWei()) }),
  eth_getBlockByNumber: ({ chain }, [tag, whole]) => {
    const block = blockAt(chain, tag)
    if (block === undefined) return { result: null }
    if (whole !== true) return { result: blockRecord(block) }
    const transactions = block.receipts.map(({ transaction }) =>
      transactionRecord(chain, transaction.hash),
    )
    return { result: { ...blockRecord(block), transactions } }
  },
  eth_getBlockByHash: ({ chain }, [wanted, whole]) => {
    const block = blockAt(chain, { blockHash: wanted as Hex })
    if (block === undefined) return { result: null }
    if (whole !== true) return { result: blockRecord(block) }
    const transactions = block.receipts.map(({ transaction }) =>
      transactionRecord(chain, transaction.hash),
    )
    return { result: { ...blockRecord(block), transactions } }
  },
  eth_getTransactionCount: ({ chain }, [address, tag]) => {
    const { state } = stateAt(chain, tag)
    return { result: hex(state.nonces.get((address as Address).toLowerCase() as Address) ?? 0) }
  },
  eth_getCode: ({ chain }, [address, tag]) => {
    const { state } = stateAt(chain, tag)
    return { result: hasCode(state, (address as Address).toLowerCase() as Address) ? '0x60' : '0x' }
  },
  eth_sendRawTransaction: ({ chain, onRaw }, [raw]) => {
    onRaw(raw as Hex)
    const sent = chain.send(raw as Hex)
    if ('hash' in sent) return { result: sent.hash }
    return { error: { code: -32_000, message: sent.error } }
  },
  eth_getTransactionReceipt: ({ chain }, [hash]) => ({ result: receiptRecord(chain, hash as Hex) }),
  eth_getTransactionByHash: ({ chain }, [hash]) => ({
    result: transactionRecord(chain, hash as Hex),
  }),
  debug_traceTransaction: ({ chain, traces }, [hash, how]) => {
    const found = traces ? chain.find(hash as Hex) : undefined
    if (found === undefined) return { error: { code: -32_601, message: 'no such method' } }
    const { tracer } = (how ?? {}) as { readonly tracer?: string }
    if (tracer === 'prestateTracer') return { result: codeBefore(found) }
    const { revert } = found.receipt
    if (revert === undefined) return { result: { output: '0x' } }
    return { result: { error: 'execution reverted', output: revertData(revert) } }
  },
  eth_estimateGas: (options, [call, tag]) => {
    callContract(options, call as ContractCall, tag)
    return { result: hex(options.chain.head().matchGas) }
  },
  eth_call: (options, [call, tag, overrides]) => {
    const asked = call as Partial<ContractCall>
    const changed = (overrides ?? {}) as Overrides
    if (asked.to === AT.matching && changed[AT.matching]?.code !== undefined) {
      return { result: askWallet(stateAt(options.chain, tag).state, asked.data ?? '0x', changed) }
    }
    if (asked.to === undefined) return { result: callBatch(options, asked.data ?? '0x', tag) }
    return { result: callContract(options, call as ContractCall, tag) }
  },
  eth_getLogs: ({ chain }, [asked]) => {
    const filter = asked as LogFilter
    const { fromBlock, toBlock, blockHash } = filter
    const at = blockHash === undefined ? undefined : stateAt(chain, { blockHash }).number
    const first = at ?? Number(fromBlock)
    const last = at ?? Number(toBlock)
    return { result: logsOf(chain, first, last, filter) }
  },
}

interface ContractCall {
  readonly from?: Address
  readonly to: Address
  readonly gas?: Hex
  readonly data?: Hex
  readonly input?: Hex
}

/** A question about a block that the node does not have, or not any more. */
class UnknownBlock extends Error {
  override readonly name = 'UnknownBlock'
}

function stateAt(chain: SimulatedChain, tag: unknown): ChainBlock {
  const block = blockAt(chain, tag)
  if (block === undefined) throw new UnknownBlock('header not found')
  return block
}

function blockAt(chain: SimulatedChain, tag: unknown): ChainBlock | undefined {
  if (typeof tag === 'object' && tag !== null) return blockOf(chain, tag as { blockHash: Hex })
  if (tag === 'finalized') return chain.block(Math.max(0, chain.head().number - 24))
  if (tag === 'safe') return chain.block(Math.max(0, chain.head().number - 12))
  if (typeof tag === 'string' && tag.startsWith('0x')) return chain.block(Number(tag))
  return chain.head()
}

function blockOf(chain: SimulatedChain, { blockHash }: { blockHash: Hex }): ChainBlock | undefined {
  for (let number = chain.head().number; number >= 0; number--) {
    const block = chain.block(number)
    if (block?.hash === blockHash) return block
  }
  return undefined
}

const CONTRACTS: ReadonlySet<string> = new Set(Object.values(AT))

const hasCode = (state: ChainState, address: Address): boolean =>
  CONTRACTS.has(address) || isCodeAt(state, address)

/** What the venue's program for several calls returns. */
function callBatch(options: RpcOptions, program: Hex, tag: unknown): Hex {
  const { state } = stateAt(options.chain, tag)
  const answers = batchedCalls(program).map(({ to, data }) => {
    if (data === undefined) return writeWords([hasCode(state, to) ? 1n : 0n])
    try {
      return callContract(options, { to, data }, tag)
    } catch (error) {
      if (error instanceof Revert) return undefined
      throw error
    }
  })
  return batchAnswer(answers)
}

function callContract(options: RpcOptions, call: ContractCall, tag: unknown): Hex {
  const to = call.to.toLowerCase() as Address
  const data = call.data ?? call.input ?? '0x'
  const { state, timestampSec, matchGas } = stateAt(options.chain, tag)
  const from = (call.from ?? NO_ADDRESS).toLowerCase() as Address
  const settling = { from, data, timestampSec }
  if (to === AT.matching) return callMatching(state, settling)
  if (to === AT.batchExecutor) {
    const gas = call.gas === undefined ? CALL_GAS : BigInt(call.gas)
    return callBatchExecutor(copyState(state), { ...settling, gas, matchGas })
  }
  if (to === AT.subAccounts) return callSubAccounts(state, data)
  if (isModule(state, to)) return callTradeModule(state, to, data)
  if (to === AT.manager) return callFuturesManager(state, data)
  if (to === AT.futureAsset && state.future) {
    return callFutureAsset(state, state.future, { data, timestampSec })
  }
  if (to === AT.perpManager && state.perp) return callPerpManager(state, state.perp, data)
  if (to === AT.perpAsset && state.perp) return callPerpAsset(state, state.perp, data)
  if (to === AT.auction && state.perp) return callAuction(state, data)
  return '0x'
}

/** What the node lets a call use that does not say. */
const CALL_GAS = 50_000_000n

function callMatching(state: ChainState, call: SettlingCall): Hex {
  const { name, args, result } = matching.read(call.data)
  switch (name) {
    case 'verifyAndMatch':
      applyMatch(copyForMatch(state), call)
      return '0x'
    case 'tradeExecutors':
      return result(mayCall(state, AT.matching, (args[0] as Address).toLowerCase() as Address))
    case 'subAccountToOwner':
      return result(state.owners.get(args[0] as bigint) ?? NO_ADDRESS)
    case 'allowedModules':
      return result(isModule(state, (args[0] as Address).toLowerCase() as Address))
    case 'withdrawTimestamp':
    case 'sessionKeys':
      return result(0n)
    default:
      throw new Error(`the simulated Matching has no ${name}`)
  }
}

const UNSEEN: Hex = `0x${'0'.repeat(64)}`
const NO_ADDRESS: Address = `0x${'0'.repeat(40)}`

function callSubAccounts(state: ChainState, data: Hex): Hex {
  const { name, args, result } = subAccounts.read(data)
  const account = args[0] as bigint
  switch (name) {
    case 'ownerOf':
      if (!state.owners.has(account)) throw new Revert('ERC721NonexistentToken')
      return result(AT.matching)
    case 'manager':
      return result(state.managers.get(account) ?? NO_ADDRESS)
    case 'getBalance':
      return result(balanceOf(state, account, (args[1] as Address).toLowerCase() as Address))
    case 'getAccountBalances': {
      const series = BigInt(state.future?.expirySec ?? 0)
      const held = [AT.cngn, AT.usdc, AT.perpAsset, AT.cash].map((asset) => [asset, 0n] as const)
      return result(
        [...held, [AT.futureAsset, series] as const]
          .map(([asset, subId]) => ({ asset, subId, balance: balanceOf(state, account, asset) }))
          .filter(({ balance }) => balance !== 0n),
      )
    }
    default:
      throw new Error(`the simulated SubAccounts has no ${name}`)
  }
}

function callTradeModule(state: ChainState, module: Address, data: Hex): Hex {
  const { name, args, result } = tradeModule.read(data)
  switch (name) {
    case 'quoteAsset':
      return result(module === AT.perpModule ? AT.cash : AT.usdc)
    case 'isPerpAsset':
      return result((args[0] as Address).toLowerCase() === AT.perpAsset)
    case 'futureAsset':
      return result(AT.futureAsset)
    case 'manager':
      return result(AT.manager)
    case 'filled': {
      const [owner, nonce] = args as [Address, bigint]
      return result(state.filled.get(fillKey(owner.toLowerCase() as Address, nonce)) ?? 0n)
    }
    case 'feeRecipient':
      return result(FEE_ACCOUNT)
    case 'seenNonces': {
      const [owner, nonce] = args as [Address, bigint]
      return result(state.seenData.get(fillKey(owner.toLowerCase() as Address, nonce)) ?? UNSEEN)
    }
    default:
      throw new Error(`the simulated TradeModule has no ${name}`)
  }
}
