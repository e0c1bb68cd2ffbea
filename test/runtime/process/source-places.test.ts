import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { withSourcePlaces } from '../../../runtime/process/source-places.js'

const project = fileURLToPath(new URL('../../../..', import.meta.url))

describe('places in a stack', () => {
  it('are those of the sources, where the compiled file has a map', () => {
    const stack = `Error: no\n    at f (file://${project}dist/core/assert.js:9:1)\n    at node:internal/main:1:2`
    expect(withSourcePlaces(stack)).to.match(
      new RegExp(`^Error: no\n    at f \\(${project}core/assert\\.ts:\\d+:\\d+\\)\n    at node:`),
    )
  })

  it('stay as they are where there is no map', () => {
    const stack = `Error: no\n    at f (file://${project}dist/none.js:9:1)\n    at g (/x/node_modules/y.js:1:2)`
    expect(withSourcePlaces(stack)).to.equal(stack)
  })
})
