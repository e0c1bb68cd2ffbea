import {
  compact,
  drop,
  flipBit,
  highS,
  otherAddress,
  set,
  setAction,
  setData,
  setSignature,
  setWord,
} from './order-changes.js'
import type { SignedBody } from './order-changes.js'
import { each, shown } from './refusal-row.js'
import type { OrderRefusal } from './refusal-row.js'

export const WRONG_SIGNATURE = 'signature does not authorize this action'

const agreement: readonly OrderRefusal[] = [
  ...each(['{"owner":', 7, [], undefined], (action_json) => ({
    what: `action_json ${shown(action_json)}`,
    change: set({ action_json }),
    error: 'action_json must be valid JSON',
  })),
  ...(
    [
      ['subaccount_id', 'subaccount_id', '98765432109'],
      ['nonce', 'nonce', '98765432109'],
      ['owner', 'owner_address', otherAddress],
      ['signer', 'signer_address', otherAddress],
    ] as const
  ).map(([field, flat, value]) => ({
    what: `another ${field} in the action`,
    change: setAction({ [field]: value }),
    error: `action_json.${field} must match ${flat}`,
  })),
  ...each(['0', '999999'], (recipient_id) => ({
    what: `recipient_id ${recipient_id}`,
    change: set({ recipient_id }),
    error: 'recipient_id must equal subaccount_id',
  })),
  {
    what: 'another module',
    change: setAction({ module: otherAddress }),
    error: /^action_json\.module must be the market's trade_module_address 0x[0-9a-f]{40}$/,
  },
]

const words: readonly OrderRefusal[] = [
  ...(
    [
      ['six words', (data: string) => data.slice(0, -64)],
      ['eight words', (data: string) => data + '0'.repeat(64)],
      ['no words', () => '0x'],
    ] as const
  ).map(([what, change]) => ({
    what,
    change: setData(change),
    error: 'expected encoded TradeData tuple',
  })),
  ...(
    [
      ['data that is not hex', (data: string) => `0xzz${data.slice(4)}`],
      ['an odd number of digits', (data: string) => data.slice(0, -1)],
      ['data without 0x', (data: string) => data.slice(2)],
    ] as const
  ).map(([what, change]) => ({
    what,
    change: setData(change),
    error: /^decode action_json\.data: \w/,
  })),
  ...(
    [
      ['isBid 2', setWord(6, () => 2n)],
      ['dirty bytes above the asset', setWord(0, (asset) => asset + (1n << 160n))],
    ] as const
  ).map(([what, change]) => ({
    what,
    change,
    error: /^action_json\.data invariant check failed: \w/,
  })),
  ...(
    [
      ['asset', setWord(0, () => BigInt(otherAddress)), 'must match asset_address'],
      ['subId', setWord(1, () => 7n), 'must match sub_id'],
      ['isBid', setWord(6, () => 0n), 'must match side'],
      ['worstFee', setWord(4, (fee) => fee + 1n), 'must match worst_fee'],
      ['recipientId', setWord(5, (id) => id + 1n), 'must match recipient_id'],
    ] as const
  ).map(([word, change, error]) => ({
    what: `another ${word} in the words`,
    change,
    error: `action_json.data.${word} ${error}`,
  })),
  {
    what: 'no sub_id and another one in the words',
    change: (body) => drop('sub_id')(setWord(1, () => 7n)(body) as unknown as SignedBody),
    error: 'action_json.data.subId must match sub_id',
  },
]

const scaling: readonly OrderRefusal[] = [
  ...each([0n, -1n], (word) => ({
    what: `a signed price of ${word}`,
    change: setWord(2, () => word),
    error: 'action_json.data.limitPrice must be positive',
  })),
  ...each([0n, -1n, -(2n ** 255n)], (word) => ({
    what: `a signed amount of ${word}`.slice(0, 40),
    change: setWord(3, () => word),
    error: 'action_json.data.desiredAmount must be positive',
  })),
  ...(
    [
      ['a signed price one unit higher', setWord(2, (price) => price + 1n)],
      ['a signed price of twice the price', setWord(2, (price) => 2n * price)],
      ['the price in wei', set({ limit_price: '100000000000000' })],
    ] as const
  ).map(([what, change]) => ({
    what,
    change,
    error: 'action_json.data.limitPrice is not aligned with normalized limit_price',
  })),
  ...(
    [
      ['a signed amount one unit lower', setWord(3, (amount) => amount - 1n)],
      ['the amount in wei', set({ desired_amount: '10000000000000000000' })],
    ] as const
  ).map(([what, change]) => ({
    what,
    change,
    error: 'action_json.data.desiredAmount is not aligned with normalized desired_amount',
  })),
]

const signatures: readonly OrderRefusal[] = [
  ...each(['0xzz', '0x123', '1234', `0x${'00'.repeat(4_097)}`], (signature) => ({
    what: `signature ${signature.slice(0, 8)}`,
    change: set({ signature }),
    error: 'signature must be 0x-prefixed hex of at most 4096 bytes',
  })),
  ...(
    [
      ['with one bit flipped', flipBit],
      ['with the high s', highS],
      ['with v 0 or 1', (text: string) => text.slice(0, -2) + (text.endsWith('1b') ? '00' : '01')],
      ['in 64 bytes', compact],
      ['in 66 bytes', (text: string) => `${text}00`],
      ['of 65 zero bytes', () => `0x${'00'.repeat(65)}`],
    ] as const
  ).map(([what, change]) => ({
    what: `a signature ${what}`,
    change: setSignature(change),
    error: WRONG_SIGNATURE,
  })),
  {
    what: 'a signature of another expiry',
    change: (body) => setAction({ expiry: `${body.expiry + 1}` })(body),
    error: WRONG_SIGNATURE,
  },
]

/** Refusals for what was signed: it disagrees with the body, is no trade data, or nobody authorized it. */
export const signedRefusals: readonly OrderRefusal[] = [
  ...agreement,
  ...words,
  ...scaling,
  ...signatures,
]
