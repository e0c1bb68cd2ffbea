import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { signedAmount } from '../../core/entry/order-terms.js'
import { actionJsonOf } from '../../core/entry/signed-action.js'
import type { SettlementOutcome } from '../../core/model/command.js'
import type { Market } from '../../core/model/market.js'
import type { Match } from '../../core/model/match.js'
import type { Order } from '../../core/model/order.js'
import { E18, priceE18, quoteE18, type AmountE18 } from '../../core/money.js'
import { revertFields, UNKNOWN_REVERT } from '../../core/revert.js'
import { ExecuteFailure, ExecuteReceipt, type ExecuteRequest } from '../../interface/execute.js'
import { jsonOf, NoExecutor, orNoExecutor, type Executors } from './executors.js'

/**
 * The request that settles a match (SET-052, SET-053). Price and fee are integers at 1e18; the amount is the chain's
 * word, in units of the market's amount scale.
 */
export function executeRequest(
  market: Market,
  match: Match,
  maker: Order,
  taker: Order,
): ExecuteRequest {
  assert(match.makerOrderId === maker.orderId, 'the match has another maker')
  assert(match.takerOrderId === taker.orderId, 'the match has another taker')
  return {
    market: market.market,
    asset_address: market.assetAddress,
    module_address: market.tradeModuleAddress,
    maker_order_id: maker.orderId,
    taker_order_id: taker.orderId,
    maker_order_ids: [maker.orderId],
    actions: [actionJsonOf(market, taker), actionJsonOf(market, maker)],
    signatures: [taker.signature, maker.signature],
    order_data: {
      taker_account: String(taker.subaccountId),
      taker_fee: String(match.takerFee),
      fill_details: [
        {
          filled_account: String(maker.subaccountId),
          amount_filled: String(amountWord(market, match.amount)),
          price: String(match.price),
          fee: '0',
        },
      ],
      manager_data: '0x',
    },
  }
}

/** An amount as the chain has it. It must be exact: a rounded one would settle another amount than the match has. */
function amountWord(market: Market, amount: AmountE18): bigint {
  const word = signedAmount(market, amount)
  assert(
    word * E18 === amount * market.amountScale,
    `${amount} is not an amount of ${market.market}`,
  )
  return word
}

/** The executor's answer about a settlement; `undecided` means: ask again with the same key (SET-008). */
export type ExecutorAnswer =
  | Extract<SettlementOutcome, { kind: 'success' }>
  /** `codeSigners`: those of its signers that were code where it failed; absent when that is not known. */
  | (Extract<SettlementOutcome, { kind: 'reverted' }> & {
      readonly codeSigners?: readonly Address[]
    })
  | { readonly kind: 'undecided'; readonly why: string }
  /**
   * The payload itself is wrong, which only a defect of the venue can cause; nothing was sent. `guilty` is `venue` where the
   * row of the executor differs from the log, so that it refuses every match of the market; otherwise `both`, so that two
   * orders are not tried for ever.
   */
  | { readonly kind: 'malformed'; readonly why: string; readonly guilty: 'venue' | 'both' }
  /** The key belongs to another call, which may have been sent: the outcome of this one is not known. */
  | { readonly kind: 'conflict'; readonly why: string }

export type AskExecutor = (
  settlementId: string,
  payload: ExecuteRequest,
  signal: AbortSignal,
) => Promise<ExecutorAnswer>

/** Settlements in flight at the executor; the others wait in the order of their matches. */
export const SETTLEMENTS_MAX_IN_FLIGHT = 2_048

export interface ExecutorAddress {
  readonly executors: Executors
  readonly secret: string
  /** Longer than the executor itself waits for a receipt. */
  readonly timeoutMs: number
}

/**
 * Asks the executor in use over HTTP (SET-010). What is not known is `undecided`, also what was asked of
 * an executor that is left meanwhile. Rejects with a defect of this program alone. `poster` opens the connections, by
 * default its own.
 */
export function askExecutorAt(
  { executors, secret, timeoutMs }: ExecutorAddress,
  poster: (options: PosterOptions) => PostText = createPoster,
): AskExecutor {
  const open = () => openPoster(executors, { timeoutMs, poster })
  let opened = open()
  executors.onLeft((url) => {
    opened.left.abort(new Error(`${url} is not asked any more`))
    opened = open()
  })
  const authorization = { authorization: `Bearer ${secret}` }
  return async (settlementId, payload, signal) => {
    const headers = { 'idempotency-key': settlementId, ...authorization }
    const body = JSON.stringify(payload)
    const posted = await orNoExecutor(opened.post(body, headers, signal))
    if (posted instanceof NoExecutor) return noAnswer(posted.message)
    const json = jsonOf(posted.text)
    return json === undefined ? noAnswer('no JSON') : readAnswer(posted.status, json)
  }
}

const noAnswer = (why: string): ExecutorAnswer => ({ kind: 'undecided', why: `no answer: ${why}` })

/** Connections to the executor in use, until it is left. */
function openPoster(
  executors: Executors,
  {
    timeoutMs,
    poster,
  }: { readonly timeoutMs: number; readonly poster: (options: PosterOptions) => PostText },
) {
  const left = new AbortController()
  const url = new URL('/execute', executors.inOrder()[0])
  return {
    left,
    post: poster({ url, timeoutMs, maxKept: SETTLEMENTS_MAX_IN_FLIGHT, left: left.signal }),
  }
}

/** Reads the executor's answer; anything unexpected leaves the settlement undecided. */
export function readAnswer(status: number, body: unknown): ExecutorAnswer {
  if (status === 200) {
    const receipt = ExecuteReceipt.safeParse(body)
    return receipt.success ? readReceipt(receipt.data) : noAnswer(receipt.error.message)
  }
  const { success, data: failure, error: unread } = ExecuteFailure.safeParse(body)
  if (!success) return noAnswer(unread.message)
  const { error, revert, guilty, spent_elsewhere, details = [] } = failure
  const isOfPayload =
    details.length > 0 && (status === 400 || (status === 422 && revert === undefined))
  if (status === 422 && !isOfPayload) {
    const spentElsewhere = spent_elsewhere === true && ({ spentElsewhere: true } as const)
    return {
      kind: 'reverted',
      revert: revert ?? UNNAMED,
      guilty: guilty ?? 'unclear',
      ...spentElsewhere,
      ...codeSignersOf(failure),
    }
  }
  // A refusal of the payload names its fields; any other 400 was not about what we asked.
  if (isOfPayload) {
    const isConflict = status === 400 && details.some(({ field }) => field === 'Idempotency-Key')
    if (isConflict) return { kind: 'conflict', why: error }
    return { kind: 'malformed', why: error, guilty: guilty === 'venue' ? guilty : 'both' }
  }
  return { kind: 'undecided', why: `${status} ${error}` }
}

function readReceipt(body: ExecuteReceipt): ExecutorAnswer {
  const { receipt_status: status, block_number: block, mark_price: mark, gas_cost: cost } = body
  const txHash = body.tx_hash as Hex
  const gasCost = cost === undefined ? {} : { gasCost: quoteE18(BigInt(cost)) }
  if (status === 'reverted') {
    return {
      kind: 'reverted',
      revert: body.revert ?? UNNAMED,
      guilty: body.guilty ?? 'unclear',
      txHash,
      ...gasCost,
      ...codeSignersOf(body),
    }
  }
  if (status === 'timeout' || block === undefined) {
    return { kind: 'undecided', why: `${txHash} has no receipt yet` }
  }
  const markPrice = mark === undefined ? {} : { markPrice: priceE18(BigInt(mark)) }
  return { kind: 'success', txHash, blockNumber: BigInt(block), ...markPrice, ...gasCost }
}

/** How an answer names a revert for which no node gives a reason. */
const UNNAMED = revertFields(UNKNOWN_REVERT).revert

const codeSignersOf = ({ code_signers: signers }: Pick<ExecuteFailure, 'code_signers'>) =>
  signers === undefined ? {} : { codeSigners: signers as Address[] }

export interface PostedAnswer {
  readonly status: number
  readonly text: string
}

/** Posts JSON text to the one address; rejects with NoExecutor when there is no answer in time, or when the signal is aborted. */
export type PostText = (
  text: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<PostedAnswer>

export interface PosterOptions {
  readonly url: URL
  /** Without a byte for so long, an answer is not waited for any more. */
  readonly timeoutMs: number
  /** Connections that are kept for the next request. */
  readonly maxKept: number
  /** Ends every request when it is aborted. */
  readonly left: AbortSignal
}

/**
 * Thousands of requests are under way at once and each waits for seconds, so each costs as little as can be: no streams
 * beyond the connection's own, and one listener for all that share a signal.
 */
export function createPoster({ url, timeoutMs, maxKept, left }: PosterOptions): PostText {
  const isTls = url.protocol === 'https:'
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true, maxFreeSockets: maxKept })
  left.addEventListener('abort', () => agent.destroy(), { once: true })
  const send = isTls ? tlsRequest : request
  const underWay = new WeakMap<AbortSignal, Set<ClientRequest>>()

  const sharing = (signal: AbortSignal): Set<ClientRequest> => {
    const known = underWay.get(signal)
    if (known !== undefined) return known
    const requests = new Set<ClientRequest>()
    underWay.set(signal, requests)
    const stop = (): void => requests.forEach((one) => one.destroy(new Error('was stopped')))
    signal.addEventListener('abort', stop, { once: true })
    return requests
  }
  return (text, headers, signal) =>
    new Promise((resolve, reject) => {
      const fail = (cause: Error): void => reject(new NoExecutor(cause))
      if (signal.aborted) return fail(new Error('was stopped'))
      const requests = sharing(signal)
      const posting = send(url, {
        method: 'POST',
        agent,
        timeout: timeoutMs,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...headers,
        },
      })
      requests.add(posting)
      posting.on('timeout', () => posting.destroy(new Error(`silent for ${timeoutMs} ms`)))
      posting.on('error', fail)
      posting.on('close', () => requests.delete(posting))
      posting.on('response', (response) => readAll(response, resolve, fail))
      posting.end(text)
    })
}

function readAll(
  response: IncomingMessage,
  resolve: (answer: PostedAnswer) => void,
  reject: (error: Error) => void,
): void {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => (text += chunk))
  response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  response.on('error', reject)
}
