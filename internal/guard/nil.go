package guard

import "reflect"

// Nil reports whether calling v would panic: it is nil, or an interface around a nil pointer or a nil function.
// Only reflection sees the latter.
func Nil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return value.IsNil()
	default:
		return false
	}
}
