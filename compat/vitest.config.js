import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['*.vitest.js'],
    // A loaded machine needs seconds to load the server.
    testTimeout: 60_000,
    // Loads the sandbox with Node, like an installed package. By default, Vitest transforms files outside node_modules.
    server: { deps: { external: [/\/dist\//] } },
  },
})
