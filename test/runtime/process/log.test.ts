import { expect } from 'chai'
import { createLog } from '../../../runtime/process/log.js'

function capture(level = 'info') {
  const lines: string[] = []
  const log = createLog('tested', level, { write: (line) => void lines.push(line) })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> }
}

describe('the log', () => {
  it('writes one JSON object a line with name, level as a word and ISO time', () => {
    const { log, lines, last } = capture()
    log.info({ order_id: 'a' }, 'order placed')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^\{.*\}\n$/)
    expect(last()).to.include({
      name: 'tested',
      level: 'info',
      order_id: 'a',
      msg: 'order placed',
    })
    expect(last().time).to.match(/^\d{4}-\d\d-\d\dT.*Z$/)
  })

  it('leaves out what is below its level', () => {
    const { log, lines } = capture('warn')
    log.info('no')
    expect(lines).to.deep.equal([])
  })

  it('refuses a level that does not exist', () => {
    expect(() => createLog('tested', 'loud')).to.throw(/loud/)
  })

  const secrets = [
    'signature',
    'signatures',
    'permit',
    'privateKey',
    'private_key',
    'authorization',
    'secret',
    'x-service-auth',
    'x-executor-secret',
    'rawTx',
    'raw_tx',
    'rawTransaction',
  ]
  for (const key of secrets) {
    it(`never shows ${key}, at any depth it is logged at`, () => {
      const { log, lines } = capture()
      const canary = '0xcanary'
      log.info({ [key]: canary })
      log.info({ order: { [key]: canary } })
      log.info({ request: { headers: { [key]: canary } } })
      log.info({ request: { orders: [{ [key]: canary }] } })
      log.error({ err: Object.assign(new Error('boom'), { [key]: canary }) })
      log.error(Object.assign(new Error('boom'), { request: { headers: { [key]: canary } } }))
      log.warn({ why: Object.assign(new Error('boom'), { [key]: canary }) })
      log.warn({ request: { toJSON: () => ({ [key]: canary }) } })
      expect(lines).to.have.length(8)
      expect(lines.join('')).not.to.contain(canary)
      expect(lines.every((line) => line.includes('[redacted]'))).to.equal(true)
    })
  }

  it('says of an error what it is, and leaves what was logged as it was', () => {
    const { log, last } = capture()
    const cause = new Error('closed')
    const err = Object.assign(new TypeError('boom', { cause }), { code: 7, signature: '0xcanary' })
    log.error({ err, at: new Date(0), own: { signature: '0xcanary', of: [1] } }, 'failed')
    expect(last().err).to.include({
      type: 'TypeError',
      message: 'boom: closed',
      code: 7,
      signature: '[redacted]',
    })
    expect((last().err as { stack: string }).stack).to.match(/boom[^]*caused by: Error: closed/)
    expect(last()).to.deep.include({
      at: '1970-01-01T00:00:00.000Z',
      own: { signature: '[redacted]', of: [1] },
    })
    expect(err.signature).to.equal('0xcanary')
  })

  it('writes big integers', () => {
    const { log, lines } = capture()
    log.info({ seq: 12n, of: { block: 34n } })
    expect(lines[0]).to.match(/"seq":"?12"?/)
    expect(lines[0]).to.match(/"block":"?34"?/)
  })
})
