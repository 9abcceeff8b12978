/**
 * The layers of src from bottom to top (ARCHITECTURE.md, Layout). A file may import from its own layer and those below.
 * A file of no layer may import nothing, and no file may import it.
 */
const LAYERS = [
  'core/',
  '(?:bounds|package)\\.ts',
  'http/',
  'openapi/',
  'areas/(?:area\\.ts|[^/]+/)',
  'areas/index\\.ts',
  // The parts of a feature that tenants and storage hold.
  'sandbox/(?:schemas|[^/]+/(?:state|schemas|apply|effect|exchange|names))\\.ts',
  'tenants/',
  'storage/',
  'sandbox/',
  'console/',
  'server\\.ts',
  '(?:boot|start|config|command-line|health)\\.ts|client/',
  'replay/|commands/',
  '(?:commands|cli)\\.ts',
]

/** @param {string[]} paths regular expressions below src */
const below = paths => `^src/(?:${paths.join('|')})`

/** Whatever is no file of src: packages, and modules of Node. */
const PACKAGES = '^(?!src/)'
const BROWSER = '^src/(?:areas/[^/]+/[^/]+/browser|console)/'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  allowed: LAYERS.map((layer, at) => ({
    // The first layer that fits a path is its layer.
    from: { path: below([layer]), ...(at > 0 && { pathNot: below(LAYERS.slice(0, at)) }) },
    to: { path: [below(LAYERS.slice(0, at + 1)), PACKAGES] },
  })),
  allowedSeverity: 'error',
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-other-area',
      severity: 'error',
      from: { path: '^src/areas/([^/]+)/' },
      to: { path: '^src/areas/[^/]+/', pathNot: '^src/areas/$1/' },
    },
    {
      name: 'no-browser-modules-in-the-server',
      severity: 'error',
      from: { path: '^src/', pathNot: BROWSER },
      to: { path: BROWSER },
    },
    {
      // It asks the control plane for all else. Texts and markup that the server and the library make, too, are shared.
      name: 'console-imports-types-only',
      severity: 'error',
      from: { path: '^src/console/' },
      to: {
        path: '^src/(?!console/)',
        pathNot: [
          '^src/core/words\\.ts$',
          '^src/areas/payout-links/pay/views/facts\\.tsx$',
          '^src/sandbox/request-log/(?:address|snippets)\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'core-imports-few-packages',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { path: PACKAGES, pathNot: ['^crypto$', '/(?:ibantools|tinyqueue|typebox)/'] },
    },
    {
      name: 'deterministic-layers-read-no-files-or-timers',
      severity: 'error',
      from: {
        path: '^src/(?:core|areas|tenants)/',
        pathNot: [BROWSER, '^src/tenants/(?:fixtures|check-fixture)\\.ts$'],
      },
      to: {
        dependencyTypes: ['core'],
        path: '^(?:fs|timers|perf_hooks|process|child_process|os|net|https?|http2|worker_threads)(?:/|$)',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Imports of types count, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
