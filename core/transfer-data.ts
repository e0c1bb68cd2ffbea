import type { Address, Hex } from './action.js'
import { addressOfWord, readWords, writeWords } from './words.js'

/** The three words of a deposit action's data. */
export interface DepositData {
  /** In the token's own units; any uint256. */
  readonly amount: bigint
  readonly asset: Address
  readonly managerForNewAccount: Address
}

/** The two words of a withdrawal action's data. */
export interface WithdrawalData {
  /** The asset that the balance is held in, not the token that it pays out. */
  readonly asset: Address
  /** In the token's own units; any uint256. */
  readonly amount: bigint
}

/** Reads exactly three words as the chain's decoder would; undefined for anything else. */
export function decodeDepositData(data: string): DepositData | undefined {
  const words = readWords(data, 3)
  if (words === undefined) return undefined
  const [amount = 0n, assetWord = 0n, managerWord = 0n] = words
  const asset = addressOfWord(assetWord)
  const managerForNewAccount = addressOfWord(managerWord)
  if (asset === undefined || managerForNewAccount === undefined) return undefined
  return { amount, asset, managerForNewAccount }
}

/** Reads exactly two words as the chain's decoder would; undefined for anything else. */
export function decodeWithdrawalData(data: string): WithdrawalData | undefined {
  const words = readWords(data, 2)
  if (words === undefined) return undefined
  const [assetWord = 0n, amount = 0n] = words
  const asset = addressOfWord(assetWord)
  return asset === undefined ? undefined : { asset, amount }
}

/** The inverse of decodeDepositData. */
export const encodeDepositData = ({ amount, asset, managerForNewAccount }: DepositData): Hex =>
  writeWords([amount, BigInt(asset), BigInt(managerForNewAccount)])

/** The inverse of decodeWithdrawalData. */
export const encodeWithdrawalData = ({ asset, amount }: WithdrawalData): Hex =>
  writeWords([BigInt(asset), amount])
