import { encodeFunctionData, parseAbi } from 'viem'
import type { Action, Address, Hex } from '../core/action.js'
import { erc20Abi } from './abi/erc20.js'
import { matchingAbi } from './abi/matching.js'

/** Calldata of verifyAndMatch for one action that needs no data beside its own: a deposit or a withdrawal. */
export function encodeTransfer(action: Action, signature: Hex): Hex {
  return encodeFunctionData({
    abi: matchingAbi,
    functionName: 'verifyAndMatch',
    args: [[action], [signature], '0x'],
  })
}

/** Who lets whom take how much of a token (EIP-2612); `value` in the token's own units, `deadline` in unix seconds. */
export interface PermitCall {
  readonly owner: Address
  readonly spender: Address
  readonly value: bigint
  readonly deadline: bigint
  /** 65 bytes of a plain key, or whatever a contract wallet signs with. */
  readonly signature: Hex
}

/** Digits of a plain key's signature. */
const KEY_SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/i
/** The form that takes the signature of a contract wallet, on tokens that have it. */
const walletPermitAbi = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
])

/** Calldata of a token's permit, in the form that fits the signature's length. */
export function encodePermit({ owner, spender, value, deadline, signature }: PermitCall): Hex {
  const terms = [owner, spender, value, deadline] as const
  const [, r, s, v] = KEY_SIGNATURE.exec(signature) ?? []
  if (r === undefined || s === undefined || v === undefined) {
    return encodeFunctionData({ abi: walletPermitAbi, args: [...terms, signature] })
  }
  const args = [...terms, Number.parseInt(v, 16), `0x${r}`, `0x${s}`] as const
  return encodeFunctionData({ abi: erc20Abi, functionName: 'permit', args })
}
