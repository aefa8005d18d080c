package token_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/sellside-sdk/sellside-go/client/token"
)

// A long-running program renews its access token with the refresh token of one sign-in.
func ExampleRefreshSource() {
	auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.FormValue("grant_type"), "for", r.FormValue("audience"))
		fmt.Fprint(w, `{"access_token":"access-1","expires_in":43200,"refresh_token":"refresh-2"}`)
	}))
	defer auth.Close()

	source, err := token.NewRefreshSource(token.RefreshConfig{
		TokenURL:     auth.URL + "/oauth/token",
		ClientID:     "my-app",
		ClientSecret: "from the environment",
		Audience:     "gateway.example.com",
		RefreshToken: "refresh-1",
		OnRotate: func(_ context.Context, refreshToken string) error {
			fmt.Println("save", refreshToken)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer source.Close()

	// A client does this for every request: client.New(client.WithTokenSource(source), ...).
	access, err := source.TokenContext(context.Background())
	if errors.Is(err, token.ErrReauthRequired) {
		fmt.Println("send the seller to the sign-in page")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("use", access.AccessToken)
	// Output:
	// refresh_token for gateway.example.com
	// save refresh-2
	// use access-1
}
