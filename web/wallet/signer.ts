import { serializeTypedData } from 'viem'
import type {
  CancelAllSigner,
  CancelSigner,
  MessageSigner,
  PermitSigner,
  TypedDataSigner,
} from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import { askWallet, readHex, type Provider } from './provider.js'

/** Signs whatever a page sends to the venue. */
export type Signer = TypedDataSigner & MessageSigner & CancelSigner & CancelAllSigner & PermitSigner

/**
 * A signer that asks the wallet each time. `check` throws WalletFault where the wallet has another account or another chain by now;
 * it is called before each question. Every method throws WalletFault.
 */
export function walletSigner(
  provider: Provider,
  address: Address,
  check: () => Promise<void> | void,
): Signer {
  const deed = 'the signature'
  const ask = async (method: string, params: readonly unknown[]): Promise<Hex> => {
    await check()
    return readHex(await askWallet(provider, { method, params, deed, prompts: true }), deed)
  }
  return {
    address,
    signTypedData: (data: unknown) =>
      ask('eth_signTypedData_v4', [
        address,
        serializeTypedData(withDomainType(data as Parameters<typeof serializeTypedData>[0])),
      ]),
    signMessage: ({ message }) => ask('personal_sign', [utf8Hex(message), address]),
  }
}

/** Text as hex digits, which every wallet reads alike. */
const utf8Hex = (text: string): Hex =>
  `0x${[...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`

/** Wallets ask for the type of the domain among the others. */
const withDomainType = (data: Parameters<typeof serializeTypedData>[0]): typeof data => ({
  ...data,
  types: {
    ...data.types,
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
  },
})
