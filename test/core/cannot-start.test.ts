import { expect } from 'chai'
import { CannotStart, faultsOf } from '../../core/cannot-start.js'

const fault = (path: readonly PropertyKey[], message: string) => ({ path, message })

describe('what keeps a program from starting', () => {
  it('is told by the name of its error, apart from other errors', () => {
    expect(new CannotStart('TERM is missing')).to.include({
      name: 'CannotStart',
      message: 'TERM is missing',
    })
  })

  it('is stated in one line, each fault with the setting that it is of', () => {
    const given = { LOG_LEVEL: 'loud', NATS_URL: undefined }
    const faults = [fault(['NATS_URL'], 'Invalid input'), fault(['LOG_LEVEL'], 'must be a level')]
    expect(faultsOf(faults, given)).to.equal('NATS_URL is missing; LOG_LEVEL must be a level')
    expect(faultsOf([], given)).to.equal('')
  })

  it('is stated without the words of the schema', () => {
    const message = 'Invalid input: expected number, received string'
    expect(faultsOf([fault(['port'], message)], { port: 'x' })).to.equal(
      'port expected number, received string',
    )
    expect(faultsOf([fault(['port'], 'no Invalid input: at all')], { port: 'x' })).to.equal(
      'port no Invalid input: at all',
    )
  })

  it('is missing when nothing stands at its place, however deep', () => {
    const given = { markets: [{ name: 'a' }, null, 7], empty: null }
    const stated = (...path: PropertyKey[]) => faultsOf([fault(path, 'is wrong')], given)
    expect(stated('markets', 0, 'name')).to.equal('markets.0.name is wrong')
    expect(stated('markets', 0, 'ordinal')).to.equal('markets.0.ordinal is missing')
    expect(stated('markets', 1)).to.equal('markets.1 is wrong')
    for (const place of [1, 2, 3]) {
      expect(stated('markets', place, 'name')).to.equal(`markets.${place}.name is missing`)
    }
    expect(stated('empty')).to.equal('empty is wrong')
  })

  it('is the whole value where a fault has no place', () => {
    expect(faultsOf([fault([], 'is not an object')], 'text')).to.equal('is not an object')
    expect(faultsOf([fault([], 'is not an object')], undefined)).to.equal('is missing')
  })
})
