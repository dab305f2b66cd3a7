! Marks for the causal profiler Coz in Fortran programs, as in coz.h. Compile it with the program; nothing is linked.
!
!     use coz
!     type(coz_mark), save :: steps = coz_mark(coz_throughput, "step")
!     ...
!     call steps%visit()            ! a unit of useful work is done
!
! Other kinds: coz_begin and coz_end (an operation begins and ends: two marks of one name), coz_arrival. A region,
! which is sped up as one target:
!
!     type(coz_region), save :: solver = coz_region("solver")
!     call solver%enter()
!     ...
!     call solver%leave()
!
! A mark is a variable of its own, best with `save`. Without the profiler a visit is a load and a branch. Any thread may
! visit a mark.
module coz
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_f_procpointer, &
      c_funptr, c_int, c_null_char, c_null_ptr, c_ptr
  implicit none
  private
  public :: coz_mark, coz_region, coz_throughput, coz_begin, coz_end, coz_arrival

  integer(c_int), parameter :: coz_throughput = 1, coz_begin = 2, coz_end = 3, coz_arrival = 4
  integer, parameter :: longest = 255

  type :: coz_mark
    integer(c_int) :: kind
    character(len=longest) :: name
    logical, private :: is_new = .true.
    type(c_ptr), private :: point = c_null_ptr
  contains
    procedure :: visit => visit_mark
  end type coz_mark

  type :: coz_region
    character(len=longest) :: name
    logical, private :: is_new = .true.
    type(c_ptr), private :: region = c_null_ptr
  contains
    procedure :: enter => enter_region
    procedure :: leave => leave_region
  end type coz_region

  ! What the profiler hands out begins with these.
  type, bind(c) :: functions
    type(c_funptr) :: first, second
  end type functions

  abstract interface
    function get_point(kind, name) bind(c)
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: kind
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: get_point
    end function get_point

    function get_region(name) bind(c)
      import :: c_char, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr) :: get_region
    end function get_region

    subroutine call_with(object) bind(c)
      import :: c_ptr
      type(c_ptr), value :: object
    end subroutine call_with
  end interface

  interface
    function dlsym(handle, name) bind(c, name="dlsym")
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: dlsym
    end function dlsym
  end interface

contains

  subroutine visit_mark(self)
    class(coz_mark), intent(inout) :: self
    type(c_funptr) :: found
    procedure(get_point), pointer :: get

    if (self%is_new) then
      ! Threads may race: they find the same.
      found = dlsym(c_null_ptr, "_coz_get_point" // c_null_char)
      if (c_associated(found)) then
        call c_f_procpointer(found, get)
        self%point = get(self%kind, trim(self%name) // c_null_char)
      end if
      self%is_new = .false.
    end if
    if (c_associated(self%point)) call call_function(self%point, .true.)
  end subroutine visit_mark

  subroutine enter_region(self)
    class(coz_region), intent(inout) :: self
    type(c_funptr) :: found
    procedure(get_region), pointer :: get

    if (self%is_new) then
      found = dlsym(c_null_ptr, "_coz_get_region" // c_null_char)
      if (c_associated(found)) then
        call c_f_procpointer(found, get)
        self%region = get(trim(self%name) // c_null_char)
      end if
      self%is_new = .false.
    end if
    if (c_associated(self%region)) call call_function(self%region, .true.)
  end subroutine enter_region

  subroutine leave_region(self)
    class(coz_region), intent(inout) :: self

    if (c_associated(self%region)) call call_function(self%region, .false.)
  end subroutine leave_region

  ! The first or second of the object's functions, with the object.
  subroutine call_function(object, is_first)
    type(c_ptr), intent(in) :: object
    logical, intent(in) :: is_first
    type(functions), pointer :: own
    procedure(call_with), pointer :: function

    call c_f_pointer(object, own)
    if (is_first) then
      call c_f_procpointer(own%first, function)
    else
      call c_f_procpointer(own%second, function)
    end if
    call function(object)
  end subroutine call_function

end module coz
