/** The order cannot be carried out; the message is one line. */
export class OperatorOrderRefused extends Error {
  override readonly name = 'OperatorOrderRefused'
}
