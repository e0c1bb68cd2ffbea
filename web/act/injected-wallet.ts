import { serializeTypedData } from 'viem'
import type { Signer, Trader } from '../state/trader.js'

/** A wallet of the browser (EIP-1193). It shows what it signs, and asks each time. */

export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

type Typed = Parameters<typeof serializeTypedData>[0]

/** The wallet that the browser offers; undefined without one. */
export const injectedWallet = (): Provider | undefined =>
  (globalThis as { readonly ethereum?: Provider }).ethereum

/** The wallet offers no account. */
export class NoWalletAccount extends Error {
  override readonly name = 'NoWalletAccount'
}

/** Asks the wallet for its account. Throws what the wallet throws, and NoWalletAccount. */
export async function connectWallet(provider: Provider): Promise<Trader> {
  const [address] = (await provider.request({ method: 'eth_requestAccounts' })) as `0x${string}`[]
  if (address === undefined) throw new NoWalletAccount('the wallet offers no account')
  const typed = (data: Typed) =>
    provider.request({
      method: 'eth_signTypedData_v4',
      params: [address, serializeTypedData(withDomainType(data))],
    }) as Promise<`0x${string}`>
  const signer: Signer = {
    address,
    signTypedData: (data: unknown) => typed(data as Typed),
    signMessage: ({ message }) =>
      provider.request({
        ...{ method: 'personal_sign', params: [message, address] },
      }) as Promise<`0x${string}`>,
  }
  return {
    ...{ kind: 'wallet', name: 'Wallet', owner: address, known: new Map() },
    ...{ signer, moneySigner: signer, isSilent: false },
  }
}

/** Wallets want the type of the domain among the others. */
const withDomainType = (data: Typed): Typed => ({
  ...data,
  types: {
    ...data.types,
    EIP712Domain: [
      ...[
        { name: 'name', type: 'string' },
        { name: 'version', type: 'string' },
      ],
      ...[
        { name: 'chainId', type: 'uint256' },
        { name: 'verifyingContract', type: 'address' },
      ],
    ],
  },
})
