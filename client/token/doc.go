// Package token keeps the access tokens that every request carries: [RefreshSource] renews them with a refresh
// token, [Static] watches over one that cannot be renewed. Package client has names of its own for what its
// options take.
package token
