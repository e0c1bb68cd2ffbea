/** A key that is kept elsewhere gave no good signature in time: nothing was signed, and nothing may be sent. */
export class SignerUnavailable extends Error {
  override readonly name = 'SignerUnavailable'
}
