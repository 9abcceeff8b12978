export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/*.jest.js'],
  transform: {},
  // Ends a failed run, in which a server is still open.
  forceExit: true,
}
