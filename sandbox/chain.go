package sandbox

import (
	"net/http"
	"strings"
)

// chain is the way of a request, outermost first.
func (s *Sandbox) chain() http.Handler {
	log := s.options.Logger
	h := s.paths()
	h = limitBody(h)
	h = recoverPanics(log, h)
	h = observe(log, &s.counters, h)
	return h
}

// paths parts what is public from the rest. It cleans no path, as a
// [http.ServeMux] would: the service does not either.
func (s *Sandbox) paths() http.Handler {
	public := s.public()
	tokens := named(tokenOperation, s.inject(s.tokenEndpoint()))
	control := named(controlOperation, s.control())
	health := named(healthOperation, http.HandlerFunc(s.health))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == TokenPath:
			tokens.ServeHTTP(w, r)
		case path == HealthPath:
			health.ServeHTTP(w, r)
		case path == ControlPath || strings.HasPrefix(path, ControlPath+"/"):
			control.ServeHTTP(w, r)
		default:
			public.ServeHTTP(w, r)
		}
	})
}

// public is the way of a request to the operations of the document, outermost
// first. A fault comes before the credentials, as that of a gateway does.
func (s *Sandbox) public() http.Handler {
	h := s.inTheWorld(s.server.routes())
	h = validate(h)
	h = s.quotas.limit(h)
	h = s.accounts.authenticate(s.Now, h)
	h = s.inject(h)
	h = identify(h)
	return h
}

// inTheWorld keeps the world from changing while a request is answered. What a
// fault has held since the world before this one is not of this one.
func (s *Sandbox) inTheWorld(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.world.RLock()
		defer s.world.RUnlock()
		if this := callOf(r.Context()); this.held && this.world != s.worlds.Load() {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Sandbox) tokenEndpoint() http.Handler {
	return &tokenEndpoint{
		accounts: s.accounts, now: s.Now, life: s.options.TokenLife, rotates: s.options.RotateRefreshTokens,
	}
}
