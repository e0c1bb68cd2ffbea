import { z } from 'zod'

/** The header by which an owner proves itself to the history. */
export const serviceAuth = z
  .string()
  .regex(/^[A-Za-z0-9_-]+={0,2}$/)
  .meta({
    id: 'ServiceAuth',
    description:
      'Base64url of the JSON `{address, signature, nonce, issued_at, expiry}`, the signature an EIP-191 one over the ' +
      'text for order history. Good for every request until it expires, at most 24 hours.',
  })
