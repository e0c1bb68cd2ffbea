import { parseAbi } from 'viem'
import { ASKED_WORD } from '../../chain/signing/ask-wallet.js'
import type { Address, Hex } from '../../core/action.js'
import type { ChainState } from './chain-state.js'
import { contractInterface } from './contract-interface.js'
import { isCodeAt, vouchesFor } from './contracts.js'
import { DELEGATES_TO } from './delegates.js'

const wallet = contractInterface(
  parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']),
)
const MAGIC = '1626ba7e'

export type Overrides = Readonly<Record<Address, { readonly code?: Hex } | undefined>>

/** The venue's stub in the place of the matching contract: it asks the wallet in the first word with the data behind it. */
export function askWallet(state: ChainState, data: Hex, overrides: Overrides): Hex {
  const signer: Address = `0x${data.slice(26, 66)}`
  const code = overrides[signer]?.code
  const then = code === undefined ? state : withCode(state, signer, code)
  const { args } = wallet.read(`0x${data.slice(66)}`)
  const [digest, signature] = args as [Hex, Hex]
  const vouches =
    isCodeAt(then, signer) && vouchesFor(then, { signer, digest, signature }, 'question')
  return `0x${ASKED_WORD}${(vouches ? MAGIC : '').padEnd(64, '0')}`
}

function withCode(state: ChainState, signer: Address, code: Hex): ChainState {
  const delegates = new Map(state.delegates)
  delegates.delete(signer)
  if (code !== '0x') delegates.set(signer, `0x${code.slice(DELEGATES_TO.length)}`)
  return { ...state, delegates }
}
