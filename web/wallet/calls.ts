import type { Address, Hex } from '../../core/action.js'

/** Calls that an owner's wallet sends itself: all have words of a fixed length alone. Selectors are checked against their signatures. */
export const SELECTORS = {
  'approve(address,uint256)': '095ea7b3',
  'allowance(address,address)': 'dd62ed3e',
  'balanceOf(address)': '70a08231',
  'deposit(uint256,uint256)': 'e2bbb158',
  'registerSessionKey(address,uint256)': '47a90d44',
  'deregisterSessionKey(address)': 'd8efddfc',
  'createAndDepositSubAccount(address,uint256,address)': 'c20818d8',
} as const

const WORD = 64

/** The data of a call. Addresses and uint256 values become words of 32 bytes. */
export const callData = (
  signature: keyof typeof SELECTORS,
  ...words: readonly (Address | bigint)[]
): Hex =>
  `0x${SELECTORS[signature]}${words
    .map((word) => (typeof word === 'bigint' ? word.toString(16) : word.slice(2).toLowerCase()))
    .map((digits) => digits.padStart(WORD, '0'))
    .join('')}`

/** The first word of an answer; undefined when there is none. */
export const firstWord = (answer: Hex): bigint | undefined =>
  answer.length < 2 + WORD ? undefined : BigInt(answer.slice(0, 2 + WORD))
