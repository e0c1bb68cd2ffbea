import { expect } from 'chai'
import { orderIntakeEnv } from '../../actors/order-intake/config.js'
import { gatewayEnv } from '../../api-gateway/config.js'
import { BadConfiguration, parseEnv } from '../../runtime/process/config.js'

const places = { NATS_URL: 'nats://x', DATA_DIR: '/data', DEPLOYMENT_FILE: '/d.json' }

describe('settings', () => {
  it('of the gateway have safe defaults', () => {
    const urls = { EXECUTOR_URL: 'http://127.0.0.1:1', WS_FANOUT_URL: 'ws://127.0.0.1:2' }
    const config = parseEnv(gatewayEnv, { ...places, ...urls })
    expect(config).to.deep.include({
      GATEWAY_PORT: 8080,
      GATEWAY_HOST: '127.0.0.1',
      ALIAS_CUTOFF: Date.UTC(2027, 0, 6),
      LOG_LEVEL: 'info',
    })
    expect(config.WS_FANOUT_URL.map(({ port }) => port)).to.deep.equal(['2'])
    const several = { ...places, ...urls, WS_FANOUT_URL: 'ws://127.0.0.1:2, ws://127.0.0.1:3' }
    const { WS_FANOUT_URL } = parseEnv(gatewayEnv, several)
    expect(WS_FANOUT_URL.map(({ port }) => port)).to.deep.equal(['2', '3'])
  })

  it('of the gateway are refused by name when bad', () => {
    const bad = { ...places, GATEWAY_PORT: '70000', WS_FANOUT_URL: 'nowhere', ALIAS_CUTOFF: 'soon' }
    expect(() => parseEnv(gatewayEnv, bad))
      .to.throw(BadConfiguration)
      .with.property('message')
      .that.matches(/GATEWAY_PORT.*EXECUTOR_URL.*WS_FANOUT_URL.*ALIAS_CUTOFF/)
  })

  it('of order intake list the protected prefixes (CAN-014)', () => {
    const base = { ...places, RPC_URL: 'http://127.0.0.1:1' }
    expect(parseEnv(orderIntakeEnv, base).PROTECTED_ORDER_ID_PREFIXES).to.deep.equal([
      'validation:',
      'smoke:',
      'manual:',
    ])
    const own = { ...base, PROTECTED_ORDER_ID_PREFIXES: 'a:, b:,' }
    expect(parseEnv(orderIntakeEnv, own).PROTECTED_ORDER_ID_PREFIXES).to.deep.equal(['a:', 'b:'])
  })
})
