import secp256k1 from 'secp256k1'
import { parseTransaction } from 'viem'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { keccak256 } from './keccak.js'
import { addressOfPublicKey } from './recover-strict.js'
import { rlpInteger, rlpItem, rlpList } from './rlp.js'
import { bytesToHex, hexToBytes } from './typed-data.js'

/** A call as one transaction of the fee market; amounts in wei. */
export interface TransactionRequest {
  readonly to: Address
  readonly data: Hex
  /** Nothing unless told. */
  readonly value?: bigint
  readonly evmNonce: number
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A key that signs transactions of one chain. The key itself cannot be read back. */
export interface TransactionSigner {
  readonly address: Address
  /** The same request always gives the same bytes. Does not yield, so that nonce, bytes and record are one step. */
  readonly sign: (request: TransactionRequest) => { readonly hash: Hex; readonly raw: Hex }
}

/** The type of a transaction of the fee market, which stands in front of its list. */
const FEE_MARKET = Uint8Array.of(2)

/** `privateKey` is 32 bytes of the curve's range; throws for another. */
export function createTransactionSigner(privateKey: Hex, chainId: number): TransactionSigner {
  const key = hexToBytes(privateKey)
  return {
    address: addressOfPublicKey(secp256k1.publicKeyCreate(key, false)),
    sign: (request) => {
      const fields = unsigned(request, chainId)
      const digest = keccak256(FEE_MARKET, ...rlpList(fields))
      const { signature, recid } = secp256k1.ecdsaSign(digest, key)
      const signed = [
        ...fields,
        ...rlpInteger(BigInt(recid)),
        ...rlpInteger(BigInt(bytesToHex(signature.subarray(0, 32)))),
        ...rlpInteger(BigInt(bytesToHex(signature.subarray(32)))),
      ]
      const raw = Buffer.concat([FEE_MARKET, ...rlpList(signed)])
      return { raw: bytesToHex(raw), hash: bytesToHex(keccak256(raw)) }
    },
  }
}

/** What the signer was asked for when it made these bytes. Throws when they are none of its own. */
export function requestOf(raw: Hex): TransactionRequest {
  const signed = parseTransaction(raw)
  const { to, gas, maxFeePerGas, data = '0x', value = 0n, nonce: evmNonce = 0 } = signed
  assert(signed.type === 'eip1559' && to && gas && maxFeePerGas, 'not a transaction of a signer')
  const { maxPriorityFeePerGas = 0n } = signed
  return { to, data, value, evmNonce, gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas }
}

/** The fields that are signed, in their order; the last is the list of accesses, which is empty. */
function unsigned(request: TransactionRequest, chainId: number): Uint8Array[] {
  const { to, data, value = 0n, evmNonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = request
  return [
    ...rlpInteger(BigInt(chainId)),
    ...rlpInteger(BigInt(evmNonce)),
    ...rlpInteger(maxPriorityFeePerGas),
    ...rlpInteger(maxFeePerGas),
    ...rlpInteger(gasLimit),
    ...rlpItem(hexToBytes(to)),
    ...rlpInteger(value),
    ...rlpItem(hexToBytes(data)),
    ...rlpList([]),
  ]
}
