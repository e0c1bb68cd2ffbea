import fc from 'fast-check'
import { bytesToHex } from '../../chain/signing/keys.js'
import type { CodeAtBlock } from '../../chain/signing/signer-code.js'
import type { Action, Address, Hex } from '../../core/action.js'

/** What the chain says of code at an address; undefined when it does not answer. */
export const codeAnswer = (hasCode: boolean | undefined): Promise<CodeAtBlock | undefined> =>
  Promise.resolve(hasCode === undefined ? undefined : { hasCode })

const UINT256_MAX = 2n ** 256n - 1n

const uint256 = fc.bigInt({ min: 0n, max: UINT256_MAX })

export const arbitraryAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map(bytesToHex)

export const arbitraryBytes: fc.Arbitrary<Hex> = fc.uint8Array({ maxLength: 300 }).map(bytesToHex)

/** Any action that the chain could be asked about. */
export const arbitraryAction: fc.Arbitrary<Action> = fc.record({
  subaccountId: uint256,
  nonce: uint256,
  module: arbitraryAddress,
  data: arbitraryBytes,
  expiry: uint256,
  owner: arbitraryAddress,
  signer: arbitraryAddress,
})

/** Private keys of the curve. */
export const arbitraryKey: fc.Arbitrary<Hex> = fc
  .bigInt({ min: 1n, max: 2n ** 255n })
  .map((key): Hex => `0x${key.toString(16).padStart(64, '0')}`)
