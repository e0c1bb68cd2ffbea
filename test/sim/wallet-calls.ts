import { parseAbi } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { AT, type ChainState } from './chain-state.js'
import { contractInterface } from './contract-interface.js'
import { isCodeAt, vouchesFor } from './contracts.js'
import { DELEGATES_TO, type Asking } from './delegates.js'

const wallet = contractInterface(
  parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']),
)
const MAGIC = '0x1626ba7e'
const NOT_MAGIC = '0xffffffff'

export type Overrides = Readonly<Record<Address, { readonly code?: Hex } | undefined>>

/** The venue's stub in the place of the matching contract: it asks the wallet in the first word with the data behind it. */
export function askWallet(
  state: ChainState,
  { data = '0x', gasPrice = '0x0' }: { readonly data?: Hex; readonly gasPrice?: Hex },
  overrides: Overrides,
): Hex {
  const signer: Address = `0x${data.slice(26, 66)}`
  const code = overrides[signer]?.code
  const then = code === undefined ? state : withCode(state, signer, code)
  if (!isCodeAt(then, signer)) return '0x'
  const asking = { caller: AT.matching, gasPrice: BigInt(gasPrice) }
  return callWallet(then, signer, `0x${data.slice(66)}`, asking)
}

function withCode(state: ChainState, signer: Address, code: Hex): ChainState {
  const delegates = new Map(state.delegates)
  delegates.delete(signer)
  if (code !== '0x') delegates.set(signer, `0x${code.slice(DELEGATES_TO.length)}`)
  return { ...state, delegates }
}

export function callWallet(state: ChainState, signer: Address, data: Hex, asking: Asking): Hex {
  const { args, result } = wallet.read(data)
  const [digest, signature] = args as [Hex, Hex]
  return result(vouchesFor(state, { signer, digest, signature }, asking) ? MAGIC : NOT_MAGIC)
}
