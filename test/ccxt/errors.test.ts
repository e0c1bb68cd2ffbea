import { BaseError, ExchangeError, NetworkError, RequestTimeout } from 'ccxt'
import { expect } from 'chai'
import { Venue } from '../../ccxt/index.js'
import { errorCodes, socketCodes } from '../../interface/error-codes.js'

/** A code as an answer has it. */
const spoken = (code: string): string => code.replaceAll(/<\w+>/g, 'deposit')

const exchange = new Venue()

/** What a refusal with the code is thrown as. */
function thrownFor(code: string, status: number): unknown {
  const body = { code, error: 'words', request_id: 'r', detail: { held_by: 'another_order' } }
  const text = JSON.stringify(body)
  try {
    exchange.handleErrors(status, '', '/v1/x', 'GET', {}, text, body, {}, '')
  } catch (error) {
    return error
  }
  return undefined
}

describe('errors of the CCXT class', () => {
  const all = [...errorCodes.values()].flat()

  it('have a class of their own for every code of the venue', () => {
    for (const { code, status } of all) {
      const error = thrownFor(spoken(code), Number.parseInt(status, 10))
      expect(error, code).to.be.instanceOf(BaseError)
      expect((error as Error).constructor, code).not.to.be.oneOf([BaseError, ExchangeError])
      expect((error as Error).message).to.include(`venue ${spoken(code)} words`)
    }
    expect(all.length).to.be.above(200)
  })

  it('are retried where the venue says so: each status from 500 on, and no refusal of the request itself', () => {
    // A transfer that is rejected, and one that the deployment does not take, are so again.
    const rows = all.filter(({ code }) => !['<kind>_rejected', '<kind>s_off'].includes(code))
    for (const { code, status } of rows) {
      const statuses = status.split(', ').map(Number)
      const error = thrownFor(spoken(code), statuses[0] ?? 0)
      if (statuses.every((each) => each >= 500)) expect(error, code).to.be.instanceOf(NetworkError)
      if (statuses.every((each) => each === 400)) {
        const isNumbered = ['duplicate_nonce', 'nonce_spent', 'invalid_min_seq'].includes(code)
        if (!isNumbered) expect(error, code).not.to.be.instanceOf(NetworkError)
      }
    }
  })

  it('leave open whether an order was placed where its id is taken and nothing says by which', () => {
    const body = { code: 'duplicate_order_id', error: 'taken', request_id: 'r' }
    const judge = () =>
      exchange.handleErrors(409, '', '/v1/orders', 'POST', {}, JSON.stringify(body), body, {}, '')
    expect(judge).to.throw(RequestTimeout)
  })

  it('have one for every code of the socket', () => {
    const classes = exchange.exceptions.ws.exact as Record<string, unknown>
    expect(Object.keys(classes)).to.have.members(socketCodes.map(({ code }) => code))
  })
})
