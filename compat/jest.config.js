export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/*.jest.js'],
  transform: {},
}
