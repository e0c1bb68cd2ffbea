/** Names under which a file of the launcher keeps what must not leave the machine. */
const SECRET_NAME = /key|secret|seed|mnemonic|password|passphrase|token|note|accounts/i
/** A private key, whatever its name; addresses are shorter. */
const SECRET_TEXT = /^(0x)?[0-9a-fA-F]{64}$/

/**
 * The value without everything that may be a key: the deployment file of the devnet has the keys of its development
 * accounts. What a venue reads of the file are addresses and numbers, and those stay.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isPublic).map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, held]) => !SECRET_NAME.test(name) && isPublic(held))
      .map(([name, held]) => [name, withoutSecrets(held)]),
  )
}

const isPublic = (value: unknown): boolean =>
  !(typeof value === 'string' && SECRET_TEXT.test(value))
