import { encodeFunctionData } from 'viem'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { TradeData } from '../../core/action.js'
import {
  actionsCall,
  matchCall,
  ONE,
  orderData,
  signAction,
  signDeposit,
  signOrder,
  type ActionOverrides,
  type Fill,
  type Match,
} from '../support/devnet-actions.js'
import { newAccount, perform, type Call, type World } from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

interface Pair {
  readonly bid?: Partial<TradeData>
  readonly ask?: Partial<TradeData>
  readonly bidAction?: ActionOverrides
  readonly askAction?: ActionOverrides
  readonly fill?: Omit<Fill, 'maker'>
  readonly match?: Omit<Match, 'taker' | 'fills'>
}

/** Alice buys as the taker from Bob, the maker, with one thing different from a match that succeeds. */
async function pair(world: World, different: Pair): Promise<Call> {
  const { alice, bob } = world
  const taker = await signOrder(
    world,
    alice,
    { isBid: true, ...different.bid },
    different.bidAction,
  )
  const maker = await signOrder(world, bob, { isBid: false, ...different.ask }, different.askAction)
  return matchCall(world, { taker, fills: [{ maker, ...different.fill }], ...different.match })
}

function differing(different: Pair): Row[2] {
  return (world) => pair(world, different)
}

/** The same with Alice selling as the taker to Bob. */
async function sale(
  world: World,
  ask: Partial<TradeData>,
  fill: Omit<Fill, 'maker'> = {},
  bid: Partial<TradeData> = {},
): Promise<Call> {
  const taker = await signOrder(world, world.alice, { isBid: false, ...ask })
  const maker = await signOrder(world, world.bob, { isBid: true, ...bid })
  return matchCall(world, { taker, fills: [{ maker, ...fill }] })
}

const HUGE = 10n ** 40n
const LIMIT = 650_000_000_000_000n

const limits: readonly Row[] = [
  ['a match inside all bounds', 'success', differing({})],
  [
    'price above the limit of the bid',
    'TM_PriceTooHigh',
    differing({ fill: { price: LIMIT + 1n } }),
  ],
  [
    'price below the limit of the maker ask',
    'TM_PriceTooLow',
    differing({ fill: { price: LIMIT - 1n } }),
  ],
  [
    'price below the limit of the taker ask',
    'TM_PriceTooLow',
    (world) => sale(world, {}, { price: LIMIT - 1n }),
  ],
  [
    'taker fee above its bound',
    'TM_FeeTooHigh',
    differing({ match: { takerFee: 162_500_000_000_000_000n + 100_000n } }),
  ],
  [
    'maker fee for a maker that signed none',
    'TM_FeeTooHigh',
    differing({ ask: { worstFee: 0n }, fill: { fee: 100_000n } }),
  ],
  ['a fill of nothing', 'Panic(0x12)', differing({ fill: { amount: 0n } })],
  [
    'a fill beyond the desired amount',
    'TM_FillLimitCrossed',
    differing({ fill: { amount: 100_000n * ONE + 1n } }),
  ],
  [
    'a negative desired amount',
    'SafeCastOverflowedIntToUint',
    differing({ ask: { desiredAmount: -1n }, fill: { amount: ONE } }),
  ],
]

const LOWER = LIMIT - 5n

/** The same two makers in both orders; the taker accepts the price of one of them. */
const severalMakers: readonly Row[] = [
  ...[
    [LOWER, LIMIT + 1n],
    [LIMIT + 1n, LOWER],
  ].map((prices, i): Row => [
    `a buyer whose limit only maker ${i + 1} meets`,
    'TM_PriceTooHigh',
    (world) => sweep(world, prices, {}),
  ]),
  ...[
    [LIMIT, LOWER],
    [LOWER, LIMIT],
  ].map((prices, i): Row => [
    `a seller whose limit only maker ${i + 1} meets`,
    'TM_PriceTooLow',
    (world) => sweep(world, prices, { isBid: false }),
  ]),
  ['prices inside the limit', 'success', (world) => sweep(world, [LOWER, LIMIT], {})],
  [
    'makers that together exceed the amount of the taker',
    'TM_FillLimitCrossed',
    (world) => sweep(world, [LIMIT, LIMIT], { desiredAmount: 2n * ONE - 1n }),
  ],
  [
    'a fee that is inside its bound over both fills only',
    'success',
    (world) => sweep(world, [LIMIT, LIMIT], { worstFee: 10n }, 20n),
  ],
]

/** Alice takes one cNGN from Bob and one from Carol at the given prices, which they signed. */
async function sweep(
  world: World,
  prices: readonly bigint[],
  different: Partial<TradeData>,
  takerFee = 0n,
): Promise<Call> {
  const taker = await signOrder(world, world.alice, { isBid: true, ...different })
  const fills = prices.map(async (limitPrice, i) => ({
    maker: await signOrder(world, i === 0 ? world.bob : world.carol, {
      isBid: !taker.trade.isBid,
      limitPrice,
      desiredAmount: ONE,
    }),
  }))
  return matchCall(world, { taker, fills: await Promise.all(fills), takerFee })
}

const payloads: readonly Row[] = [
  [
    'the taker account is not that of the first action',
    'TM_SignedAccountMismatch',
    (world) => pair(world, { match: { takerAccount: world.carol.subaccountId } }),
  ],
  [
    'the filled account is not that of the maker',
    'TM_SignedAccountMismatch',
    (world) => pair(world, { fill: { filledAccount: world.carol.subaccountId } }),
  ],
  ['two bids', 'TM_IsBidMismatch', differing({ ask: { isBid: true } })],
  [
    'different assets',
    'TM_AssetMismatch',
    (world) => pair(world, { ask: { asset: world.at.cash_asset } }),
  ],
  ['different sub ids', 'TM_AssetSubIdMismatch', differing({ ask: { subId: 7n } })],
  [
    'a sub id that the asset does not know',
    'WERC_InvalidSubId',
    differing({ ask: { subId: 7n }, bid: { subId: 7n } }),
  ],
  [
    'only one action',
    'TM_InvalidActionsLength',
    async (world) => {
      const taker = await signOrder(world, world.alice, { isBid: true })
      return actionsCall(world, [taker], orderData({ taker, fills: [] }))
    },
  ],
  [
    'fewer fills than makers',
    'Panic(0x32)',
    async (world) => {
      const taker = await signOrder(world, world.alice, { isBid: true })
      const maker = await signOrder(world, world.bob, { isBid: false })
      return actionsCall(world, [taker, maker], orderData({ taker, fills: [] }))
    },
  ],
  [
    'trade data of six words',
    'an empty revert',
    async (world) => {
      const maker = await signOrder(world, world.bob, { isBid: false })
      const order = await signOrder(world, world.alice, { isBid: true })
      const short = order.action.data.slice(0, 2 + 6 * 64) as `0x${string}`
      const taker = { ...order, ...(await signAction(world, world.alice, short)) }
      return matchCall(world, { taker, fills: [{ maker }] })
    },
  ],
  [
    'one of two makers has expired',
    'OV_ActionExpired',
    async (world) => {
      const taker = await signOrder(world, world.alice, { isBid: true })
      const ask = { isBid: false, desiredAmount: ONE }
      const good = await signOrder(world, world.bob, ask)
      const late = await signOrder(world, world.carol, ask, { expiry: 1n })
      return matchCall(world, { taker, fills: [{ maker: good }, { maker: late }] })
    },
  ],
]

const nonces: readonly Row[] = [
  [
    'the same nonce with other data',
    'TM_InvalidNonce',
    async (world) => {
      const askAction = { nonce: 7n }
      await perform(world, await pair(world, { askAction, fill: { amount: ONE } }))
      return pair(world, { askAction, ask: { worstFee: 1n }, fill: { amount: ONE } })
    },
  ],
  [
    'the same nonce for another account of the owner',
    'TM_InvalidNonce',
    async (world) => {
      const subaccountId = await newAccount(world, world.bob)
      await perform(world, await pair(world, { askAction: { nonce: 7n }, fill: { amount: ONE } }))
      return pair(world, { askAction: { nonce: 7n, subaccountId }, fill: { amount: ONE } })
    },
  ],
  [
    'the same nonce in the deposit module',
    'success',
    async (world) => {
      await perform(world, await pair(world, { bidAction: { nonce: 7n }, fill: { amount: ONE } }))
      const deposit = { amount: 0n, asset: world.at.wrapped_cngn }
      return actionsCall(world, [await signDeposit(world, world.alice, deposit, { nonce: 7n })])
    },
  ],
  [
    'a fill beyond what earlier fills left',
    'TM_FillLimitCrossed',
    async (world) => {
      const bid = { desiredAmount: 500_000n * ONE }
      const taker = await signOrder(world, world.alice, { isBid: true, ...bid })
      const maker = await signOrder(world, world.bob, { isBid: false, ...bid })
      const fill = (amount: bigint) => matchCall(world, { taker, fills: [{ maker, amount }] })
      await perform(world, fill(200_000n * ONE))
      return fill(300_001n * ONE)
    },
  ],
  [
    'a filled order again',
    'TM_FillLimitCrossed',
    async (world) => {
      const call = await pair(world, {})
      await perform(world, call)
      return call
    },
  ],
]

const recipients: readonly Row[] = [
  ['a maker without recipient', 'TM_InvalidRecipientId', differing({ ask: { recipientId: 0n } })],
  [
    'a maker that pays to an account of another owner',
    'TM_InvalidRecipientId',
    (world) => pair(world, { ask: { recipientId: world.carol.subaccountId } }),
  ],
  ['a taker without recipient', 'MW_UnknownManager', differing({ bid: { recipientId: 0n } })],
  [
    'a buyer that receives on its other account, which consented to nothing',
    'NotEnoughSubIdOrAssetAllowances',
    async (world) => pair(world, { bid: { recipientId: await newAccount(world, world.alice) } }),
  ],
  [
    'a maker that is paid in a wrapped asset on its other account',
    'NotEnoughSubIdOrAssetAllowances',
    async (world) => pair(world, { ask: { recipientId: await newAccount(world, world.bob) } }),
  ],
  [
    'both orders on one account',
    'AC_CannotTransferAssetToOneself',
    async (world) => {
      const taker = await signOrder(world, world.alice, { isBid: true })
      const maker = await signOrder(world, world.alice, { isBid: false })
      return matchCall(world, { taker, fills: [{ maker }] })
    },
  ],
  ...[0, 1].map((place): Row => [
    `a taker that is paid on the account of maker ${place + 1} of its call`,
    'AC_CannotTransferAssetToOneself',
    async (world) => {
      const makers = [world.bob, world.carol]
      const recipientId = makers[place]?.subaccountId ?? 0n
      const taker = await signOrder(world, world.alice, { isBid: false, recipientId })
      const bid = { isBid: true, desiredAmount: ONE }
      const bids = await Promise.all(makers.map((maker) => signOrder(world, maker, bid)))
      return matchCall(world, { taker, fills: bids.map((maker) => ({ maker })) })
    },
  ]),
]

const funds: readonly Row[] = [
  [
    'a seller of more than it holds',
    'WERC_CannotBeNegative',
    differing({
      bid: { limitPrice: 1n, desiredAmount: HUGE, worstFee: 0n },
      ask: { limitPrice: 1n, desiredAmount: HUGE, worstFee: 0n },
    }),
  ],
  [
    'a buyer that spends more wrapped quote than it holds',
    'WERC_CannotBeNegative',
    differing({ bid: { limitPrice: HUGE }, ask: { limitPrice: HUGE } }),
  ],
  [
    'a module of another sort for an order',
    'an empty revert',
    async (world) => {
      const order = await signOrder(world, world.alice, { isBid: true })
      const data = order.action.data.slice(0, 66) as `0x${string}`
      const module = world.at.deposit_module
      return actionsCall(world, [await signAction(world, world.alice, data, { module })])
    },
  ],
  [
    'no action at all',
    'Panic(0x32)',
    (world) => ({
      from: world.executor,
      to: world.at.matching,
      data: encodeFunctionData({
        abi: matchingAbi,
        functionName: 'verifyAndMatch',
        args: [[], [], '0x'],
      }),
    }),
  ],
]

describeOutcomes('limits and fee bounds of orders', limits)
describeOutcomes('several makers in one match', severalMakers)
describeOutcomes('the payload of a match', payloads)
describeOutcomes('nonces and fills of orders', nonces)
describeOutcomes('recipients of a match', recipients)
describeOutcomes('funds of a match', funds)
