import type { OrderBody } from '../support/builders.js'
import { perpetual } from './good-orders.js'
import { of, rule, set, setAction, valuesOf, type Json, type Rule } from './rule.js'

type OrderRule = Rule<OrderBody>

const OTHER = `0x${'12'.repeat(20)}`

const setData =
  (change: (data: string) => string) =>
  (body: OrderBody): Json =>
    setAction({ data: change(body.action_json.data ?? '') })(body)

/** Replaces one of the seven signed words, counted from 0, by what it becomes. */
const setWord = (index: number, change: (word: bigint) => bigint) =>
  setData((data) => {
    const at = 2 + 64 * index
    const word = BigInt(`0x${data.slice(at, at + 64)}`)
    const changed = BigInt.asUintN(256, change(word)).toString(16).padStart(64, '0')
    return data.slice(0, at) + changed + data.slice(at + 64)
  })

const mustMatch = (
  [code, path, flat]: readonly [code: string, path: string, flat: string],
  when: OrderRule['when'],
): OrderRule => rule([code, `${path} must match ${flat}`, path], when)

// ORD-035
const agreement: readonly OrderRule[] = [
  mustMatch(['subaccount_mismatch', 'action_json.subaccount_id', 'subaccount_id'], {
    'another account in the action': setAction({ subaccount_id: '98765432109' }),
    'another account in the body': set({ subaccount_id: '8' }),
  }),
  mustMatch(['nonce_mismatch', 'action_json.nonce', 'nonce'], {
    'another nonce in the action': setAction({ nonce: '98765432109' }),
  }),
  mustMatch(['owner_mismatch', 'action_json.owner', 'owner_address'], {
    'another owner in the action': setAction({ owner: OTHER }),
  }),
  mustMatch(['signer_mismatch', 'action_json.signer', 'signer_address'], {
    'another signer in the action': setAction({ signer: OTHER }),
  }),
  rule(
    // ORD-042
    ['recipient_not_subaccount', 'recipient_id must equal subaccount_id', 'recipient_id'],
    valuesOf('recipient_id', ['0', '8', '999999']),
  ),
]

const wrongModule = (expected: string, when: OrderRule['when']): OrderRule => ({
  ...rule(
    [
      'wrong_module',
      `action_json.module must be the market's trade_module_address ${expected}`,
      'action_json.module',
    ],
    when,
  ),
  detail: { expected },
})

const SPOT_MODULE = `0x${'e1'.repeat(20)}`

const DATA = 'action_json.data'
const invariant = (reason: string): [string, string, string] => [
  'data_invariant',
  `action_json.data invariant check failed: ${reason}`,
  DATA,
]
const notHex = (reason: string): [string, string, string] => [
  'data_not_hex',
  `decode action_json.data: ${reason}`,
  DATA,
]

const words: readonly OrderRule[] = [
  wrongModule(`0x${'e2'.repeat(20)}`, {
    'the spot module on the perpetual': of(perpetual, setAction({ module: SPOT_MODULE })),
  }),
  // ORD-036
  wrongModule(SPOT_MODULE, { 'another module': setAction({ module: OTHER }) }),
  // ORD-037
  rule(['trade_data_words', 'expected encoded TradeData tuple', DATA], {
    'six words': setData((data) => data.slice(0, -64)),
    'eight words': setData((data) => data + '0'.repeat(64)),
    'no words': setData(() => '0x'),
  }),
  rule(notHex('not a hex digit'), { 'a z': setData((data) => `0xzz${data.slice(4)}`) }),
  rule(notHex('odd number of hex digits'), { 'half a byte': setData((data) => data.slice(0, -1)) }),
  rule(notHex('missing 0x prefix'), {
    'no prefix': setData((data) => data.slice(2)),
    'a prefix in capitals': setData(() => '0X00'),
  }),
  rule(notHex('expected a hex string'), { 'a number': setAction({ data: 5 }) }),
  rule(invariant('isBid is neither 0 nor 1'), { 'a flag of 2': setWord(6, () => 2n) }),
  rule(invariant('asset is not an address'), {
    'bytes above the asset': setWord(0, (asset) => asset + (1n << 160n)),
  }),
  // ORD-039
  mustMatch(['data_asset_mismatch', `${DATA}.asset`, 'asset_address'], {
    'another asset': setWord(0, () => BigInt(OTHER)),
  }),
  mustMatch(['data_sub_id_mismatch', `${DATA}.subId`, 'sub_id'], {
    'another sub id': setWord(1, () => 7n),
    'another one, and none in the body': (body) => ({
      ...setWord(1, () => 7n)(body),
      sub_id: undefined,
    }),
  }),
  mustMatch(['data_is_bid_mismatch', `${DATA}.isBid`, 'side'], {
    'the other side': setWord(6, () => 0n),
  }),
  mustMatch(['data_worst_fee_mismatch', `${DATA}.worstFee`, 'worst_fee'], {
    'another fee': setWord(4, (fee) => fee + 1n),
  }),
  mustMatch(['data_recipient_mismatch', `${DATA}.recipientId`, 'recipient_id'], {
    'another recipient': setWord(5, (id) => id + 1n),
  }),
]

const notAligned = (word: string, flat: string): [string, string, string] => [
  `data_${flat}_not_aligned`,
  `${DATA}.${word} is not aligned with normalized ${flat}`,
  `${DATA}.${word}`,
]
const NOT_POSITIVE = { 0: () => 0n, '-1': () => -1n, 'the least': () => -(2n ** 255n) }
const notPositive = (index: number): OrderRule['when'] =>
  Object.fromEntries(
    Object.entries(NOT_POSITIVE).map(([name, word]) => [name, setWord(index, word)]),
  )

const scaling: readonly OrderRule[] = [
  rule(
    ['data_price_not_positive', `${DATA}.limitPrice must be positive`, `${DATA}.limitPrice`],
    notPositive(2),
  ),
  rule(
    ['data_amount_not_positive', `${DATA}.desiredAmount must be positive`, `${DATA}.desiredAmount`],
    notPositive(3),
  ),
  // ORD-040
  rule(notAligned('limitPrice', 'limit_price'), {
    'one unit higher': setWord(2, (price) => price + 1n),
    'twice the price': setWord(2, (price) => 2n * price),
    'the price in wei': set({ limit_price: '650000000000000' }),
  }),
  // ORD-041
  rule(notAligned('desiredAmount', 'desired_amount'), {
    'one unit lower': setWord(3, (amount) => amount - 1n),
    'one unit higher': setWord(3, (amount) => amount + 1n),
    'the amount in wei': set({ desired_amount: '153000000000000000000000' }),
  }),
  rule(
    [
      // ORD-066
      'reduce_only_unsupported',
      'reduce_only is only supported for perp and future markets',
      'reduce_only',
    ],
    valuesOf('reduce_only', [true]),
  ),
  rule(
    ['invalid_reduce_only', 'reduce_only must be a boolean', 'reduce_only'],
    valuesOf('reduce_only', ['yes', 1]),
  ),
  rule(
    // ORD-063
    ['invalid_time_in_force', 'time_in_force must be GTC, IOC or FOK', 'time_in_force'],
    valuesOf('time_in_force', ['ioc', 'GTD', 1, false]),
  ),
  rule(
    // ORD-064
    ['invalid_post_only', 'post_only must be "reject" or "slide"', 'post_only'],
    valuesOf('post_only', [true, false, 'Slide', 1]),
  ),
  rule(
    [
      // ORD-064
      'post_only_immediate',
      'post_only cannot be combined with time_in_force IOC or FOK',
      'post_only',
    ],
    {
      'with IOC': set({ time_in_force: 'IOC', post_only: 'reject' }),
      'with FOK': set({ time_in_force: 'FOK', post_only: 'slide' }),
    },
  ),
  rule(
    // ORD-065
    ['invalid_stp', 'stp must be "cancel_newest", "cancel_oldest" or "cancel_both"', 'stp'],
    valuesOf('stp', ['none', 'CANCEL_BOTH', 'cancel_taker', 1, true]),
  ),
  rule(
    ['invalid_stp_scope', 'stp_scope must be "subaccount" or "owner"', 'stp_scope'],
    valuesOf('stp_scope', ['account', 'Owner', 1, false]),
  ),
  rule(
    [
      'invalid_lease_id',
      'lease_id must be the lease_id that the answer to cancel_on_disconnect names',
      'lease_id',
    ],
    valuesOf('lease_id', ['one', 'AB'.repeat(16), 'ab'.repeat(17), 1, true, ['ab'.repeat(16)]]),
  ),
]

/** The signed action against the body and the market. */
export const signedRules: readonly OrderRule[] = [...agreement, ...words, ...scaling]
