import { HttpRequestError } from 'viem'

/** What viem throws when the node does not answer. */
export const noAnswer = (why = 'silence'): HttpRequestError =>
  new HttpRequestError({ url: 'http://node', details: why })
