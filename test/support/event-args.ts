/** The arguments of a decoded event, whose ABI is compiled by the tests and has no type; undefined without an event. */
export const argsOf = (event: object | undefined): unknown =>
  event !== undefined && 'args' in event ? event.args : undefined
