import { randomBytes } from 'node:crypto'
import { encodeAbiParameters, hashTypedData, parseAbiParameters, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { eventually } from '../../support/eventually.js'
import type { Devnet } from '../../support/venue.js'

/**
 * A client written from nothing but the interface's description and a `devnet.json`: fetch and viem,
 * and none of the venue's own code.
 */

export const MARKET = 'cNGN-USDC'
export const ALIAS = 'USDCcNGN-SPOT'
export const SPEC = 'cngn_usdc_spot_v1'
/** The deprecated identifiers stop resolving then. */
export const ALIAS_LIVES = Date.now() < Date.parse('2027-01-06T00:00:00Z')

export type Json = Record<string, unknown>

export interface Answer<Body = Json> {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface OrderJson extends Json {
  readonly order_id: string
  readonly nonce: string
  readonly owner_address: string
  readonly status: string
  readonly filled_amount: string
  readonly open_amount: string
  readonly created_at: string
}

export interface BookJson {
  readonly market_presentation: Json
  readonly bids: readonly OrderJson[]
  readonly asks: readonly OrderJson[]
}

export interface TradeJson extends Json {
  readonly trade_id: number
  readonly created_at: string
}

export interface TradesJson {
  readonly market_presentation: Json
  readonly stats_24h: Json
  readonly trades: readonly TradeJson[]
  readonly next_before_trade_id?: number
}

/** The body of `POST /v1/orders`. */
export interface OrderBody extends Json {
  readonly order_id: string
  readonly nonce: string
  readonly owner_address: string
  readonly expiry: number
  readonly action_json: ActionJson
  readonly signature: string
}

export interface ActionJson {
  readonly subaccount_id: string
  readonly nonce: string
  readonly module: string
  readonly data: string
  readonly expiry: string
  readonly owner: string
  readonly signer: string
}

export interface Wish {
  /** Engine side: `buy` receives cNGN. */
  readonly side: 'buy' | 'sell'
  /** USDC per cNGN. */
  readonly price: string
  /** cNGN. */
  readonly amount: string
  readonly orderId?: string
  readonly expiry?: number
  /** USDC a cNGN at 1e18; enough for 30 bps by default. */
  readonly worstFee?: bigint
  /** Fields that are not signed. */
  readonly more?: Json
}

export type Hex = `0x${string}`

/** Whose account an order trades and who signs for it. */
export interface Identity {
  readonly owner: Hex
  readonly subaccountId: string
  readonly signer: Hex
  /** Signs an EIP-712 digest. */
  readonly signDigest: (digest: Hex) => Promise<Hex>
}

export const nowSec = (): number => Math.floor(Date.now() / 1000)
export const freshNonce = (): string => BigInt(`0x${randomBytes(31).toString('hex')}`).toString()
export const e18 = (decimal: string): bigint => parseUnits(decimal, 18)

/** GET or POST as JSON; every answer of the venue is JSON and carries a request id. */
export async function request<Body = Json>(
  url: URL,
  init: RequestInit = {},
): Promise<Answer<Body>> {
  const response = await fetch(url, init)
  const body = (await response.json()) as Body
  return { status: response.status, headers: response.headers, body }
}

/** Resolves with the first answer that satisfies the condition, asked for until then. */
export async function until<T>(
  ask: () => Promise<T>,
  condition: (answer: T) => boolean,
  withinMs = 20_000,
): Promise<T> {
  let answer!: T
  await eventually(async () => {
    answer = await ask()
    if (!condition(answer)) throw new Error(JSON.stringify(answer)?.slice(0, 300))
  }, withinMs)
  return answer
}

/** What any visitor can do. */
export function createVisitor(devnet: Devnet) {
  const get = <Body = Json>(path: string) => request<Body>(new URL(path, devnet.gateway_url))
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    request(new URL(path, devnet.gateway_url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const book = async () => (await get<BookJson>(`/v1/book?symbol=${MARKET}`)).body
  const trades = async () => (await get<TradesJson>(`/v1/trades?symbol=${MARKET}`)).body
  const order = async (id: string) => (await get<OrderJson>(`/v1/orders/${id}`)).body
  const orderWith = (id: string, status: string) =>
    until(
      () => order(id),
      (it) => it.status === status,
    )
  return { get, post, book, trades, order, orderWith }
}

export type Visitor = ReturnType<typeof createVisitor>

let orders = 0

/** A visitor with an account. */
export function createBlackBoxTrader(devnet: Devnet, identity: Identity) {
  const visitor = createVisitor(devnet)

  async function sign(wish: Wish): Promise<OrderBody> {
    orders += 1
    const expiry = wish.expiry ?? nowSec() + 900
    const worstFee = wish.worstFee ?? (e18(wish.price) * 30n) / 10_000n
    const terms = { ...wish, worstFee }
    const nonce = freshNonce()
    const { owner, signer, subaccountId } = identity
    const action: ActionJson = {
      subaccount_id: subaccountId,
      nonce,
      module: devnet.spot_trade_module,
      data: tradeData(devnet, subaccountId, terms),
      expiry: `${expiry}`,
      owner,
      signer,
    }
    return {
      order_id: wish.orderId ?? `trader-${process.pid}-${Date.now()}-${orders}`,
      owner_address: owner,
      signer_address: signer,
      subaccount_id: subaccountId,
      recipient_id: subaccountId,
      nonce,
      side: wish.side,
      asset_address: devnet.wrapped_cngn,
      sub_id: '0',
      desired_amount: wish.amount,
      filled_amount: '0',
      limit_price: wish.price,
      worst_fee: `${worstFee}`,
      expiry,
      action_json: action,
      signature: await identity.signDigest(digestOf(devnet, action)),
      ...wish.more,
    }
  }
  const submit = async (wish: Wish) => visitor.post('/v1/orders', await sign(wish))

  /** The order as the 200 shows it. */
  async function place(wish: Wish): Promise<OrderJson> {
    const { status, body } = await submit(wish)
    if (status !== 200) throw new Error(`refused: ${status} ${JSON.stringify(body)}`)
    return body.order as OrderJson
  }
  const cancel = ({ nonce }: { readonly nonce: string }, more: Json = {}) =>
    visitor.post('/v1/orders/cancel', { owner_address: identity.owner, nonce, ...more })

  return {
    ...visitor,
    ...identity,
    address: identity.owner.toLowerCase(),
    sign,
    submit,
    place,
    cancel,
  }
}

export type BlackBoxTrader = ReturnType<typeof createBlackBoxTrader>

/** The devnet's account with that number. */
export function traderOf(devnet: Devnet, number: number): BlackBoxTrader {
  const account = devnet.accounts[number]
  if (account === undefined) throw new Error(`no account ${number}`)
  return createBlackBoxTrader(devnet, identityOf(account.private_key, account.spot_subaccount_id))
}

/** A key that trades for itself, or for the owner that is named. */
export function identityOf(privateKey: Hex, subaccountId: string, owner?: Hex): Identity {
  const { address, sign } = privateKeyToAccount(privateKey)
  const signDigest = (hash: Hex) => sign({ hash })
  return { owner: owner ?? address, signer: address, subaccountId, signDigest }
}

const TRADE_DATA = parseAbiParameters(
  'address asset, uint256 subId, int256 limitPrice, int256 desiredAmount, uint256 worstFee, uint256 recipientId, bool isBid',
)

/** The seven words of a spot order. */
export function tradeData(
  devnet: Devnet,
  recipientId: string,
  wish: Pick<Wish, 'side' | 'price' | 'amount'> & { readonly worstFee: bigint },
): Hex {
  const price = e18(wish.price)
  const amount = e18(wish.amount)
  const words = [price, amount, wish.worstFee, BigInt(recipientId), wish.side === 'buy'] as const
  return encodeAbiParameters(TRADE_DATA, [devnet.wrapped_cngn, 0n, ...words])
}

const ACTION = [
  { name: 'subaccountId', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'module', type: 'address' },
  { name: 'data', type: 'bytes' },
  { name: 'expiry', type: 'uint256' },
  { name: 'owner', type: 'address' },
  { name: 'signer', type: 'address' },
] as const

/** What is signed of an action in its wire form. */
export function digestOf(devnet: Devnet, action: ActionJson): Hex {
  return hashTypedData({
    domain: {
      name: 'Matching',
      version: '1.0',
      chainId: devnet.chain_id,
      verifyingContract: devnet.matching,
    },
    types: { Action: ACTION },
    primaryType: 'Action',
    message: {
      subaccountId: BigInt(action.subaccount_id),
      nonce: BigInt(action.nonce),
      module: action.module as Hex,
      data: action.data as Hex,
      expiry: BigInt(action.expiry),
      owner: action.owner as Hex,
      signer: action.signer as Hex,
    },
  })
}
