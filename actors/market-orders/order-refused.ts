/** The order cannot be carried out; the message is one line. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused'
}
