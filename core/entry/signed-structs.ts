/**
 * The structs that clients sign as EIP-712 typed data (interface 2.9 and 5.1, decision B12; permits as EIP-2612). Client,
 * verifier and published vectors take them from here.
 */
export const SIGNED_STRUCTS = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
  Cancel: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
  CancelAll: [
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'scope', type: 'string' },
    { name: 'issuedAt', type: 'uint256' },
    { name: 'expiry', type: 'uint256' },
  ],
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

export type SignedStruct = keyof typeof SIGNED_STRUCTS

/** The type string of a struct, as EIP-712 writes it. */
export const typeString = (struct: SignedStruct): string =>
  `${struct}(${SIGNED_STRUCTS[struct].map(({ name, type }) => `${type} ${name}`).join(',')})`
