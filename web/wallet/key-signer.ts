import { privateKeyToAddress, signMessage, signTypedData } from 'viem/accounts'
import type { Hex } from '../../core/action.js'
import type { Signer } from './signer.js'

/** Signs by a key of this page, and asks no one. A whole account of the library would bring what signs transactions too: the page signs none. */
export const keySigner = (privateKey: Hex): Signer => ({
  address: privateKeyToAddress(privateKey),
  signMessage: ({ message }) => signMessage({ message, privateKey }),
  signTypedData: (data: unknown) =>
    signTypedData({
      ...(data as Omit<Parameters<typeof signTypedData>[0], 'privateKey'>),
      privateKey,
    }),
})
