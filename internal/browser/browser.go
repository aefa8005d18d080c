// Package browser tests the pages of the sandbox in a real browser. It is a module of its own, so
// that programs that use the SDK do not depend on the driver of the browser.
package browser
