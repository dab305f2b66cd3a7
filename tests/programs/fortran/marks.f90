! Visits every mark of include/coz.f90 for so many seconds, and prints how often.
program marks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use coz
  implicit none
  type(coz_mark), save :: done = coz_mark(coz_throughput, "done")
  type(coz_mark), save :: arrived = coz_mark(coz_arrival, "arrived")
  type(coz_mark), save :: begun = coz_mark(coz_begin, "operation")
  type(coz_mark), save :: ended = coz_mark(coz_end, "operation")
  type(coz_region), save :: step = coz_region("step")
  character(len=16) :: argument
  real(real64) :: seconds, total
  integer(int64) :: start, now, rate, rounds
  integer :: i

  call get_command_argument(1, argument)
  read (argument, *) seconds
  call system_clock(start, rate)
  total = 0
  rounds = 0
  do
    call arrived%visit()
    call begun%visit()
    call step%enter()
    do i = 1, 100000
      total = total + sqrt(real(i, real64))  ! WORK
    end do
    call step%leave()
    call ended%visit()
    call done%visit()
    rounds = rounds + 1
    call system_clock(now)
    if (real(now - start, real64) > seconds * real(rate, real64)) exit
  end do
  print "(i0)", rounds
  if (total < 0) print *, total
end program marks
