import { expect } from 'chai'
import { connect } from 'node:net'
import { refusals } from '../../core/entry/refusals.js'
import { createLog } from '../../runtime/process/log.js'
import { eventually } from '../support/eventually.js'
import { aGatewayStage } from '../support/gateway-stage.js'
import { signedBody } from '../support/intake-stage.js'

describe('logs of the gateway', () => {
  it('have one line an order with its outcome, and nothing of its body', async () => {
    const lines: string[] = []
    const log = createLog('gateway', 'info', { write: (line: string) => void lines.push(line) })
    const gateway = await aGatewayStage({ log })
    gateway.answerWith({ kind: 'refused', refusal: refusals.signature })
    const body = await signedBody({ orderId: 'order-in-log' })
    const { headers } = await gateway.send('POST', '/v1/orders', {
      body,
      headers: { 'x-service-auth': 'c2VjcmV0' },
    })
    await gateway.send('GET', '/v1/markets')
    await gateway.close()

    expect(lines).to.have.length(1)
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
    expect(line).to.include({
      level: 'info',
      msg: 'request answered',
      request_id: headers['x-request-id'],
      path: '/v1/orders',
      status: 400,
      order_id: 'order-in-log',
      code: 'invalid_signature',
    })
    expect(line.ms).to.be.a('number')
    for (const secret of [body.signature, body.action_json.data, 'c2VjcmV0']) {
      expect(lines[0]).not.to.contain(secret)
    }
  })

  it('stay silent about a client that hangs up', async () => {
    const lines: string[] = []
    const log = createLog('gateway', 'debug', { write: (line: string) => void lines.push(line) })
    const gateway = await aGatewayStage({ log })
    const socket = connect(gateway.port, '127.0.0.1')
    socket.write('POST /v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    await new Promise((resolve) => gateway.server.once('request', resolve))
    socket.destroy()
    await eventually(() => lines.some((line) => line.includes('request failed')))
    await gateway.close()
    expect(lines.filter((line) => line.includes('"level":"error"'))).to.deep.equal([])
  })

  it('have the reason of a 500, which the answer keeps to itself', async () => {
    const lines: string[] = []
    const log = createLog('gateway', 'info', { write: (line: string) => void lines.push(line) })
    const gateway = await aGatewayStage({
      log,
      readiness: { missing: () => Promise.reject(new Error('/secret/path is gone')) },
    })
    const answer = await gateway.send('GET', '/readyz')
    await gateway.close()
    expect(answer.status).to.equal(500)
    expect(answer.text).not.to.contain('secret')
    expect(lines.join('')).to.contain('/secret/path is gone')
  })
})
